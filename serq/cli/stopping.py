"""Options about when a run has done enough."""

from collections.abc import Callable
from typing import Any

import click

from serq.base.errors import UsageError
from serq.cli.options import Verb, with_options

_UNTIL = "Run on until every half width is this share of its value; with exit status 4 when that takes too long."
_MEASURE = "What --until watches (repeatable; default: the means of all observes)."
_LONGER = "Let --until run longer instead of more often."
_MOST = "Let --until do at most K times the work of its first round."


def until_options(function: Verb) -> Verb:
    """What to reach, as an `Until` named `until`; None when nothing is asked for."""

    def verb(
        *args: Any, until: str | None, measure: tuple[str, ...], longer: bool, most_work: float, **rest: Any
    ) -> Any:
        if until is None:
            if measure or longer:
                raise UsageError("--measure and --longer say how --until goes about it: give --until")
            return function(*args, until=None, **rest)
        from serq.api.checked import share
        from serq.studies.precision import Until

        relative = share(until, "--until")
        assert relative is not None

        return function(*args, until=Until(relative, measure, longer, most_work), **rest)

    return with_options(_OPTIONS, verb, function)


_OPTIONS: list[Callable[[Verb], Verb]] = [
    click.option("--until", metavar="1%", help=_UNTIL),
    click.option("--measure", multiple=True, metavar="NAME", help=_MEASURE),
    click.option("--longer", is_flag=True, help=_LONGER),
    click.option("--most-work", type=click.FloatRange(min=1), metavar="K", default=100, show_default=True, help=_MOST),
]
