"""Whether a solved program switches rarely between two conditions, seen by the sessions that are away from delays."""

from serq.ir.program import Delay, Program
from serq.pipeline import Solved
from serq.semantics.generator import merged_rates, restrict
from serq.semantics.metastability import Metastability, metastability
from serq.semantics.steady import recurrent_class


def conditions(program: Program, solved: Solved) -> Metastability:
    """The verdict on the recurrent class. LimitError when its eigenvalues are not found."""
    chain = solved.chain
    states = recurrent_class(chain, program.source)
    delays = [chain.state_rewards[f"stage.{s.name}.number"] for s in program.stages if isinstance(s.kind, Delay)]
    present = chain.state_rewards["sessions.number"]
    number = [int(present[i] - sum(delay[i] for delay in delays)) for i in states]
    rows = restrict(merged_rates(chain), states)
    return metastability(rows, [solved.solution.probabilities[i] for i in states], number)
