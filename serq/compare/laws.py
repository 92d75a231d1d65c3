"""Solutions with the laws of observed times, not only their means."""

from collections.abc import Callable
from dataclasses import replace

from serq.base.errors import LimitError
from serq.ir.measures import distribution_measures_of
from serq.ir.program import Program
from serq.ir.results import Estimate
from serq.pipeline import RATIONAL_BY_DEFAULT, Solved, SolveOptions, distribution_estimates, distributions
from serq.semantics.continuous import BESIDE_CLOCKS
from serq.semantics.near_values import as_near_values

LARGEST_UNASKED = 1000
"""States of a tagged-session chain up to which it is explored without being asked for."""
_MOST_TRANSITIONS = 3000
"""Transitions of a chain with clocks up to which laws are found without being asked for."""
_NO_LIMIT = "the law of what is observed is known for finite chains only; a large --limit gives one that is near"
_ASK = "; ask for it with --distributions"


def with_distributions(
    solved: Solved,
    program: Program,
    options: SolveOptions,
    progress: Callable[[int, int], None] | None = None,
) -> Solved:
    """The answers with second moments and quantiles of every observe behind its mean and rate.

    `options.distributions` None: where the chain is small. False: nothing is added. LimitError where they are asked for
    and there are none, since exponential events happen beside clocks or there is no limit.
    """
    if options.distributions is False or not program.observes:
        return solved
    embedded = solved.chain.embedded
    if solved.tail is not None or (embedded is not None and not embedded.alone):
        reason = BESIDE_CLOCKS if solved.tail is None else _NO_LIMIT
        if options.distributions:
            raise LimitError(reason)
        more = tuple(Estimate(m.name, "exact", None, "", reason=reason) for m in distribution_measures_of(program))
    elif options.distributions is None:
        more = _unasked(solved, program, options, progress)
    else:
        more = distribution_estimates(program, distributions(program, options, progress))
    return replace(solved, estimates=_merged(program, solved.estimates, as_near_values(solved.chain, more)))


def _merged(program: Program, estimates: tuple[Estimate, ...], more: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """The answers about the law of an observe behind those about its mean and rate."""
    subject = {m.name: m.subject for m in distribution_measures_of(program)}
    means = {e.measure: e for e in more if e.measure.endswith(".mean")}
    out: list[Estimate] = []
    for estimate in estimates:
        if estimate.value is None and estimate.measure in means:
            estimate = means[estimate.measure]
        out.append(estimate)
        kind, _, rest = estimate.measure.partition(".")
        if kind == "observe" and rest.endswith(".rate"):
            out += [e for e in more if subject.get(e.measure) == rest.removesuffix(".rate")]
    return tuple(out)


def _unasked(
    solved: Solved, program: Program, options: SolveOptions, progress: Callable[[int, int], None] | None
) -> tuple[Estimate, ...]:
    """The estimates where they cost little; none, and why, where they would not."""
    try:
        if solved.chain.size > RATIONAL_BY_DEFAULT:
            raise LimitError(f"the chain has more than {RATIONAL_BY_DEFAULT} states")
        if solved.chain.embedded is not None and len(solved.chain.transitions) > _MOST_TRANSITIONS:
            raise LimitError(f"the chain has more than {_MOST_TRANSITIONS} transitions")
        found = distributions(program, replace(options, states=LARGEST_UNASKED), progress)
    except LimitError as error:
        reason = f"{error}{_ASK}"
        return tuple(Estimate(m.name, "exact", None, "", reason=reason) for m in distribution_measures_of(program))
    return distribution_estimates(program, found)
