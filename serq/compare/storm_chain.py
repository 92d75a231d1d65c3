"""A chain solved by Storm: `--method storm`, an opinion that shares no solver with ours."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import fsum

from serq.base.source import SourceFile
from serq.compare.storm import TIMEOUT, StormAnswer, drn_job, engine_name, run_storm, succeeded
from serq.compare.storm_process import StormError
from serq.exporters.drn import drn_text
from serq.exporters.explored import explored
from serq.ir.chain import Chain, Solution
from serq.pipeline import Solved
from serq.semantics.answers import answers
from serq.semantics.generator import integer_generator, merged_rates, restrict
from serq.semantics.near_values import as_near_solution, as_near_values, no_rationals_of
from serq.semantics.operational_laws import with_laws
from serq.semantics.solve import balance_residual
from serq.semantics.steady import recurrent_class

LARGEST_EXACT = 300
"""States up to which Storm's exact engine is quick on a general chain."""

_MASS = 1e-9


def solve_with_storm(
    chain: Chain, *, exact: bool | None = None, source: SourceFile | None = None, timeout: float = TIMEOUT
) -> Solved:
    """The measures from the stationary vector that Storm computes from the chain's DRN text.

    `exact` None: rationals up to `LARGEST_EXACT` states, otherwise doubles by sparse LU, which are a cross-check and
    no reference. The vector has to pass our checks. Raises NoSteadyStateError, LimitError when time or memory runs
    out, StormError when Storm or its answer fails.
    """
    if exact:
        no_rationals_of(chain)
    states = recurrent_class(chain, source)
    in_rationals = chain.size <= LARGEST_EXACT if exact is None else exact
    job = drn_job(drn_text(explored(replace(chain, embedded=None))), (), exact=in_rationals, distribution=True)
    answer = succeeded(run_storm([job], timeout=timeout)[0])
    solution = (_exact if in_rationals else _doubles)(chain, states, answer)
    estimates = answers(chain, solution)
    checked = with_laws(solution, estimates)
    return Solved(chain, as_near_solution(chain, checked), as_near_values(chain, estimates))


def _exact(chain: Chain, states: Sequence[int], answer: StormAnswer) -> Solution:
    probabilities = tuple(Fraction(p) for p in answer.distribution[: chain.size])
    generator = integer_generator(restrict(merged_rates(chain), states))
    if not generator.solved_by([probabilities[s] for s in states]) or sum(probabilities) != 1:
        raise StormError("Storm's exact answer does not satisfy the balance equations")
    checks = (
        f"the balance equations hold exactly at all {len(states)} recurrent states",
        "the probabilities add up to 1",
    )
    return Solution(probabilities, engine_name(True), 0.0, 0.0, checks, chain.size - len(states))


def _doubles(chain: Chain, states: Sequence[int], answer: StormAnswer) -> Solution:
    vector = [float(p) for p in answer.distribution[: chain.size]]
    mass = fsum(vector)
    residual = balance_residual(restrict(merged_rates(chain), states), [vector[s] for s in states])
    if not abs(mass - 1) <= _MASS:
        raise StormError(f"Storm's probabilities add up to {mass!r}")
    checks = (
        f"largest |pi Q| is {residual:.1e} of the largest flow through a state; Storm gives no error",
        f"the probabilities add up to 1 within {abs(mass - 1):.1e}",
    )
    return Solution(tuple(vector), engine_name(False), residual, None, checks, chain.size - len(states))
