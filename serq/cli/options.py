"""Options that several verbs share, handed over as one value each."""

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal

import click


class Time(click.ParamType[float]):
    """A time as a number: `2.5`, `1e3`, `1/3`."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The double next to what was written."""
        if isinstance(value, float):
            return value
        try:
            return float(value)
        except ValueError:
            pass
        try:
            return float(Fraction(value))
        except (ValueError, ArithmeticError):
            self.fail(f"{value!r} is not a valid float.", param, ctx)


TIME = Time()
COUNT = click.IntRange(min=1)
CHANCE = click.FloatRange(0, 1, min_open=True, max_open=True)

_LIMIT = "In an open program, an arrival that finds K sessions present is lost."
_PHASES = "Let Erlang laws of K phases stand for work that is not phase-type (an approximation)."
_STATES = "Give up beyond this many states (default: 4 million, or 200000 where no compiled explorer can go)."
_RUNS = "Independent runs."
_WARMUP = "Time before which nothing is counted; auto: found by MSER-5."
_JOBS = "Replications at a time (default: as many as there are processors)."

Verb = Callable[..., Any]


def _warmup(_: click.Context, __: click.Parameter, text: str | None) -> float | str | None:
    """A time, or the word `auto`."""
    if text is None or text == "auto":
        return text
    try:
        return TIME.convert(text, None, None)
    except click.UsageError:
        raise click.BadParameter(f"{text!r} is no time, and not auto") from None


def chain_options(phase_type: bool = True) -> Callable[[Verb], Verb]:
    """What shapes the chain of a program, as a `SolveOptions` named `solving`."""

    def decorate(function: Verb) -> Verb:
        def verb(*args: Any, limit: int | None, max_states: int | None, phases: int | None = None, **rest: Any) -> Any:
            from serq.pipeline import SolveOptions

            return function(*args, solving=SolveOptions(states=max_states, limit=limit, phase_type=phases), **rest)

        options = [click.option("--limit", type=COUNT, metavar="K", help=_LIMIT)]
        if phase_type:
            options.append(click.option("--phase-type", "phases", type=COUNT, metavar="K", help=_PHASES))
        options.append(click.option("--max-states", type=COUNT, metavar="N", help=_STATES))
        return with_options(options, verb, function)

    return decorate


def simulation_options(replications: int, jobs_help: str = _JOBS) -> Callable[[Verb], Verb]:
    """How to simulate, as a `SimulateOptions` named `simulation`; so many replications unless somebody says more."""

    def decorate(function: Verb) -> Verb:
        def verb(
            *args: Any,
            seed: int | None,
            horizon: float | None,
            warmup: float | Literal["auto"] | None,
            replications: int,
            jobs: int | None,
            confidence: float,
            **rest: Any,
        ) -> Any:
            from serq.pipeline import SimulateOptions

            at_a_time = jobs or os.cpu_count() or 1
            simulation = SimulateOptions(seed, horizon, warmup, replications, at_a_time, confidence)
            return function(*args, simulation=simulation, **rest)

        return with_options(_simulation(replications, jobs_help), verb, function)

    return decorate


def _simulation(replications: int, jobs_help: str) -> list[Callable[[Verb], Verb]]:
    return [
        click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed of all random streams."),
        click.option("--horizon", type=TIME, metavar="TIME", help="Time at which a run ends."),
        click.option("--warmup", callback=_warmup, metavar="TIME|auto", help=_WARMUP),
        click.option("--replications", type=COUNT, metavar="N", default=replications, show_default=True, help=_RUNS),
        click.option("--jobs", type=COUNT, metavar="N", help=jobs_help),
        click.option(
            "--confidence", type=CHANCE, metavar="P", default=0.95, show_default=True, help="Of the printed intervals."
        ),
    ]


def with_options(options: Sequence[Callable[[Verb], Verb]], verb: Verb, function: Verb) -> Verb:
    """The verb with these options above those that the function already has, under the function's name."""
    verb.__doc__ = function.__doc__
    verb.__name__ = function.__name__
    verb.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    for option in reversed(options):
        verb = option(verb)
    return verb
