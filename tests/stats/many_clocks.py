"""Many generated programs with step stages, once: `python tests/stats/many_clocks.py FIRST COUNT [HORIZON]`.

Prints every disagreement of a chain with a run, how large the chains were, and why the other programs have none.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from clocked_programs import clocked_program

from serq.base.errors import LimitError, NoSteadyStateError, OutsideFragmentError, RunError
from serq.compare.three_way import CheckOptions, three_way
from serq.pipeline import SimulateOptions, SolveOptions, load_text, solve


def compare(seed: int, horizon: float, seen: Counter[str]) -> None:
    """One program; `seen` counts what came of it."""
    program, solving = load_text(clocked_program(seed)).program, SolveOptions(states=1500)
    try:
        solved = solve(program, solving)
    except (OutsideFragmentError, NoSteadyStateError, RunError) as error:
        seen.update({d.code for d in error.diagnostics})
        return
    except LimitError:
        seen["too large"] += 1
        return
    simulation = SimulateOptions(horizon=horizon, warmup=50.0, seed=seed)
    agreement = three_way(program, CheckOptions(simulation, solving, false_alarm=1e-5)).agreement
    seen.update({"programs": 1, "measures": agreement.compared, solved.chain.timing: 1})
    for row in agreement.rows:
        if row.verdict == "disagrees":
            print(seed, row.measure.name, row.why, flush=True)


if __name__ == "__main__":
    first, count, *rest = map(float, sys.argv[1:])
    found: Counter[str] = Counter()
    for number in range(int(first), int(first + count)):
        compare(number, rest[0] if rest else 5000.0, found)
    print(dict(found))
