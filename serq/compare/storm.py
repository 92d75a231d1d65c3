"""Storm as a second opinion: models and properties in, numbers out, each with the engine that gave it.

The exact engine computes in rationals (to about 300 states of a general chain, 3000 of a birth-death chain). In doubles
Storm runs with a sparse LU factorisation (Eigen), never with its defaults; such a number is no exact answer.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from serq.base.errors import LimitError
from serq.compare.storm_process import StormError, run_jobs, storm_version
from serq.ir.expr import Number

TIMEOUT = 60.0
MEMORY = 8 << 30

FailureKind = Literal["error", "timeout", "memory", "crash"]


@dataclass(frozen=True)
class StormJob:
    """One model with the properties to check. Made by `prism_job`, `jani_job`, `drn_job`, ...

    `distribution`: also the whole stationary vector, by state number.
    """

    kind: Literal["prism", "drn", "explicit", "jani", "umb"]
    model: str | Mapping[str, str]
    properties: tuple[str, ...]
    constants: Mapping[str, Fraction | int]
    exact: bool
    distribution: bool = False


@dataclass(frozen=True)
class StormAnswer:
    """One value per property: a Fraction from the exact engine (or `inf`), a double from the other."""

    values: tuple[Number, ...]
    states: int
    transitions: int
    engine: str
    distribution: tuple[Number, ...] = ()


@dataclass(frozen=True)
class StormFailure:
    """Why a job has no answer."""

    kind: FailureKind
    reason: str


def prism_job(
    model: str, constants: Mapping[str, Fraction | int], properties: Sequence[str], *, exact: bool = True
) -> StormJob:
    """A PRISM text with values for its open constants."""
    return StormJob("prism", model, tuple(properties), dict(constants), exact)


def drn_job(model: str, properties: Sequence[str], *, exact: bool = True, distribution: bool = False) -> StormJob:
    """A text in Storm's DRN format."""
    return StormJob("drn", model, tuple(properties), {}, exact, distribution)


def jani_job(
    model: str, constants: Mapping[str, Fraction | int], properties: Sequence[str], *, exact: bool = True
) -> StormJob:
    """A JANI text with values for its open constants; the properties are names of its own."""
    return StormJob("jani", model, tuple(properties), dict(constants), exact)


def umb_job(model: bytes, properties: Sequence[str], *, exact: bool = True) -> StormJob:
    """A UMB file."""
    return StormJob("umb", base64.b64encode(model).decode("ascii"), tuple(properties), {}, exact)


def long_run_functions(model: str, rewards: Sequence[str], *, timeout: float = TIMEOUT) -> tuple[str, ...]:
    """The long-run rates of rewards of a DRN with parameters, as texts of rational functions (`^` for a power).

    Raises LimitError when time or memory ran out, StormError on any other failure.
    """
    wanted = [long_run(reward) for reward in rewards]
    job = {"kind": "parametric", "model": model, "properties": wanted, "exact": True, "distribution": False}
    (message,) = run_jobs([job], timeout=timeout, memory=MEMORY)
    if not message["ok"]:
        raise (LimitError if message["kind"] in ("timeout", "memory") else StormError)(f"Storm: {message['error']}")
    return tuple(message["values"])


def explicit_job(files: Mapping[str, str], properties: Sequence[str], *, exact: bool = True) -> StormJob:
    """PRISM's explicit files, as texts by file name."""
    return StormJob("explicit", dict(files), tuple(properties), {}, exact)


def run_storm(
    jobs: Sequence[StormJob], *, timeout: float = TIMEOUT, memory: int = MEMORY
) -> tuple[StormAnswer | StormFailure, ...]:
    """The jobs in one process (a new one after each that dies): `timeout` seconds per job, `memory` bytes in all.

    Raises StormError when Storm is missing or of another line.
    """
    messages = run_jobs([_request(job) for job in jobs], timeout=timeout, memory=memory)
    return tuple(_outcome(job, message) for job, message in zip(jobs, messages, strict=True))


def check_prism(
    model: str,
    constants: Mapping[str, Fraction | int],
    properties: Sequence[str],
    *,
    exact: bool = True,
    timeout: float = TIMEOUT,
) -> StormAnswer:
    """The values of the properties of a PRISM text. Raises LimitError on a limit, StormError on any other failure."""
    return _one(prism_job(model, constants, properties, exact=exact), timeout)


def check_drn(model: str, properties: Sequence[str], *, exact: bool = True, timeout: float = TIMEOUT) -> StormAnswer:
    """The values of the properties of a DRN text. Raises as `check_prism` does."""
    return _one(drn_job(model, properties, exact=exact), timeout)


def check_explicit(
    files: Mapping[str, str], properties: Sequence[str], *, exact: bool = True, timeout: float = TIMEOUT
) -> StormAnswer:
    """The values of the properties of explicit files. Raises as `check_prism` does."""
    return _one(explicit_job(files, properties, exact=exact), timeout)


def long_run(reward: str) -> str:
    """The property that asks for the long-run rate of a reward."""
    return f'R{{"{reward}"}}=? [ S ]'


def succeeded(outcome: StormAnswer | StormFailure) -> StormAnswer:
    """The answer. Raises LimitError when time or memory ran out, StormError on any other failure."""
    if isinstance(outcome, StormAnswer):
        return outcome
    error = LimitError if outcome.kind in ("timeout", "memory") else StormError
    raise error(f"Storm: {outcome.reason}")


def _one(job: StormJob, timeout: float) -> StormAnswer:
    return succeeded(run_storm([job], timeout=timeout)[0])


def _request(job: StormJob) -> dict[str, Any]:
    return {
        "kind": job.kind,
        "model": job.model,
        "properties": job.properties,
        "constants": ",".join(f"{name}={value}" for name, value in job.constants.items()),
        "exact": job.exact,
        "distribution": job.distribution,
    }


def _outcome(job: StormJob, message: Mapping[str, Any]) -> StormAnswer | StormFailure:
    if not message["ok"]:
        return StormFailure(message["kind"], message["error"])
    read = _exact if job.exact else float
    values = tuple(read(text) for text in message["values"])
    distribution = tuple(read(text) for text in message["distribution"] or ())
    for name, value in [*zip(job.properties, values, strict=True), *(("P", p) for p in distribution)]:
        if not _plausible(name, value, message["rewards_from"]):
            return StormFailure("error", f"the value {value} of {name} is impossible, so none is trusted")
    return StormAnswer(values, message["states"], message["transitions"], engine_name(job.exact), distribution)


def engine_name(exact: bool) -> str:
    """The version and the engine, for reports."""
    return f"Storm {storm_version()}, " + ("exact engine" if exact else "sparse LU (Eigen) in doubles")


def _exact(text: str) -> Number:
    return math.inf if text == "inf" else Fraction(text)


def _plausible(wanted: str, value: Number, rewards_from: float) -> bool:
    """Storm in doubles has returned NaN, probabilities of 1.16, and negative mean queue lengths without a word.

    `rewards_from`: the lowest reward of the model; when it is not negative, no expected reward is.
    """
    if math.isnan(value):
        return False
    if wanted.lstrip().startswith(("P", "S", "LRA")):
        return -_SLACK <= value <= 1 + _SLACK
    return value >= -_SLACK or rewards_from < 0


_SLACK = 1e-9
