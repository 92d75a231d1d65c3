"""The options of each question by name. Every keyword is a field of the options that the question takes."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, get_args

from serq.base.errors import UsageError
from serq.base.suggestions import did_you_mean
from serq.pipeline import SimulateOptions, SolveOptions

if TYPE_CHECKING:
    from serq.studies.tasks import Method

_ENGINES = Literal["auto", "compiled", "reference"]

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
    engine: _ENGINES
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


class PreciseKeywords(SimulateKeywords, total=False):
    """How narrow the intervals are to be (`"1%"` or 0.01), of which measures, by running longer instead of more often,
    and by at most so many times the work of the first round.
    """

    until: str | float | None
    watch: Collection[str]
    longer: bool
    most_work: float


class QuestionKeywords(SolveKeywords, total=False):
    """The constants in which derivatives are wanted, and whether the chain is asked for its conditions and lumping."""

    derivative: Collection[str]
    metastability: bool
    lumping: bool


class ReplayKeywords(TypedDict, total=False):
    """As in `serq.semantics.replay.ReplayOptions`, and which engine."""

    seed: int | None
    horizon: float | None
    strict: bool
    checked: bool
    engine: _ENGINES


class CheckKeywords(SimulateKeywords, SolveKeywords, total=False):
    """Both, and how to compare."""

    false_alarm: float
    until_power: float | None


class EventKeywords(SimulateKeywords, SolveKeywords, total=False):
    """Both, which of the methods `exact`, `sim` and `closed`, how many pairs of runs, how long each is followed."""

    methods: "Collection[Method]"
    pairs: int
    follow: float | None


def options_from(kind: type[Options], given: Mapping[str, Any]) -> Options:
    """The options with what is given; UsageError for a name that is no option, or a value that it cannot have."""
    known = [f.name for f in fields(kind)]
    refuse_unknown(given, known)
    return kind(**{name: value_from(name, value) for name, value in given.items()})


_WHOLE: Mapping[str, int] = {
    "seed": 0, "replications": 1, "jobs": 1, "events": 1, "memory": 1, "states": 1, "limit": 1, "phase_type": 1,
    "pairs": 2,
}  # fmt: skip
"""Options that are whole numbers, and the least that each can be: as on the command line."""


_FLAGS = ("exact", "distributions", "keep_samples", "checked", "strict", "longer", "metastability", "lumping")
"""Options that are so or not."""


def value_from(name: str, value: Any) -> Any:
    """The value, a whole number as an int whoever made it; UsageError for one that the option cannot have.

    None always means the default.
    """
    least = _WHOLE.get(name)
    number = isinstance(value, Real) and not isinstance(value, bool)
    wanted = ""
    if value is None:
        return None
    if least is not None and not (number and isinstance(value, Integral) and int(value) >= least):
        wanted = f"a whole number, at least {least}"
    elif name in ("confidence", "false_alarm", "until_power") and not (number and 0 < float(value) < 1):
        wanted = "between 0 and 1"
    elif name in _FLAGS and not (isinstance(value, bool | Integral) and int(value) in (0, 1)):
        wanted = "True or False"
    elif name == "engine" and value not in get_args(_ENGINES):
        wanted = f"one of {', '.join(get_args(_ENGINES))}"
    elif name in ("horizon", "warmup") and not number and (name, value) != ("warmup", "auto"):
        wanted = "a number"
    if wanted:
        raise UsageError(f"{name} must be {wanted}, not {value!r}")
    if name == "unlumped":
        return _quotients(value)
    return value if least is None else int(value)


def _quotients(given: Any) -> tuple[str, ...]:
    """Names of lumpings, written as here or as on the command line (`dead_values`, `dead-values`)."""
    from serq.semantics.records import Quotients

    known = [f.name for f in fields(Quotients)]
    names = tuple(name.replace("-", "_") for name in names_from("unlumped", given))
    if not set(names) <= set(known):
        raise UsageError(f"unlumped is some of {', '.join(known)}, not {given!r}")
    return names


def methods_from(given: Collection[str]) -> "tuple[Method, ...]":
    """The methods of a study or a price, in their order; UsageError for one that there is not, and for none."""
    from serq.studies.tasks import METHODS

    wanted = [given] if isinstance(given, str) else list(given) if isinstance(given, Collection) else []
    unknown = [name for name in wanted if name not in METHODS]
    if unknown or not wanted:
        raise UsageError(f"methods are some of {', '.join(METHODS)}, not {given!r}")
    return tuple(method for method in METHODS if method in wanted)


def refuse_unknown(given: Mapping[str, Any], known: list[str]) -> None:
    """UsageError for names that are not among the known ones."""
    for name in given:
        if name not in known:
            guess, options = did_you_mean(name, known), f"the options are {', '.join(known)}"
            raise UsageError(" ".join(filter(None, (f"there is no option {name!r};", guess, options))))


def split(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What is meant for the simulation, for the solution, and for neither; UsageError as `options_from` raises it."""
    given = {name: value_from(name, value) for name, value in given.items()}
    to_simulate, to_solve = ({f.name for f in fields(kind)} for kind in (SimulateOptions, SolveOptions))
    return (
        {k: v for k, v in given.items() if k in to_simulate},
        {k: v for k, v in given.items() if k in to_solve},
        {k: v for k, v in given.items() if k not in to_simulate | to_solve},
    )


def text_from(what: str, given: Any) -> str:
    """A text; UsageError for anything else."""
    if not isinstance(given, str):
        raise UsageError(f"{what} must be a text, not {type(given).__name__}")
    return given


def names_from(what: str, given: Any) -> tuple[str, ...]:
    """Names: one, or several; UsageError for what are none."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Collection) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(f"{what} must be names, not {given!r}")
    return names


def constants_from(what: str, given: Any) -> Mapping[str, Any]:
    """Values of constants by name; UsageError for what is no such mapping."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise UsageError(f"{what} must be a mapping of names of constants to their values, not {given!r}")
    return given


def number_from(what: str, given: Any) -> float | None:
    """A number, or None; UsageError for anything else."""
    if given is None:
        return None
    if not isinstance(given, Real) or isinstance(given, bool):
        raise UsageError(f"{what} must be a number, not {given!r}")
    return float(given)
