"""The options of each question by name. Every keyword is a field of the options that the question takes."""

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Literal, TypedDict, TypeVar

from serq.base.errors import UsageError
from serq.pipeline import SimulateOptions, SolveOptions

Options = TypeVar("Options", SimulateOptions, SolveOptions)


class SimulateKeywords(TypedDict, total=False):
    """As in `serq.pipeline.SimulateOptions`."""

    seed: int | None
    horizon: float | None
    warmup: float | Literal["auto"] | None
    replications: int
    jobs: int
    confidence: float
    trace: str | None
    keep_samples: bool
    checked: bool
    engine: Literal["auto", "compiled", "reference"]
    events: int | None
    memory: int | None


class SolveKeywords(TypedDict, total=False):
    """As in `serq.pipeline.SolveOptions`."""

    exact: bool | None
    method: str
    states: int | None
    limit: int | None
    phase_type: int | None
    distributions: bool | None
    unlumped: tuple[str, ...]
    memory: int | None


class CheckKeywords(SimulateKeywords, SolveKeywords, total=False):
    """Both, and how to compare."""

    false_alarm: float
    until_power: float | None


def options_from(kind: type[Options], given: Mapping[str, Any]) -> Options:
    """The options with what is given; UsageError for a name that is no option."""
    known = [f.name for f in fields(kind)]
    refuse_unknown(given, known)
    return kind(**given)


def refuse_unknown(given: Mapping[str, Any], known: list[str]) -> None:
    """UsageError for names that are not among the known ones."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise UsageError(f"there is no option {name!r}; {guess}the options are {', '.join(known)}")


def split(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What is meant for the simulation, for the solution, and for neither."""
    to_simulate, to_solve = ({f.name for f in fields(kind)} for kind in (SimulateOptions, SolveOptions))
    return (
        {k: v for k, v in given.items() if k in to_simulate},
        {k: v for k, v in given.items() if k in to_solve},
        {k: v for k, v in given.items() if k not in to_simulate | to_solve},
    )
