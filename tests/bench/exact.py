"""How large chains are explored and solved, and how right: `python tests/bench/exact.py [WORD...]`.

One row per model, each in a process of its own: states, transitions, CPU seconds to explore and to solve, memory, the
throughput with its proved bound, and its relative distance from a value that comes from elsewhere (a formula that
shares no code with the solvers, or a second method). Beside it, in the same run, Storm: CPU seconds to export the
chain, of Storm's builder on the file, of Storm with its solver, and how far its doubles are from ours. Words choose
rows; `--storm N` lets Storm try chains of up to N states, `--seconds` says how long.
"""

import argparse
import math
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from serq.compare.storm import StormAnswer, StormFailure, StormJob, long_run, run_storm, umb_job
from serq.exporters.explored import explored
from serq.exporters.umb import umb_bytes
from serq.ir.chain import Chain
from serq.ir.program import Program
from serq.pipeline import Solved, SolveOptions, explore_chain, load, solve_chain

PROGRAMS = Path(__file__).parents[1] / "data" / "values" / "programs"
Numbers = Mapping[str, float]


def queue(n: Numbers) -> float:
    """Throughput of M/M/1//N: the server is idle with the probability that Erlang's loss formula gives for N lines."""
    load, idle = n["Z"] * n["mu"], 1.0
    for k in range(1, int(n["N"]) + 1):
        idle = load * idle / (k + load * idle)
    return n["mu"] * (1 - idle)


def tandem(n: Numbers) -> float:
    """Throughput of a closed product-form network by Buzen's convolution, all sums positive."""
    size, scale = int(n["N"]), max(1.0, n["Z"] / 500)
    prefill, decode, think = [1.0], [1.0], [1.0]
    for k in range(1, size + 1):
        prefill.append(prefill[-1] * n["m1"] / scale)
        decode.append(decode[-1] * n["m2"] / scale / min(k, 4))
        think.append(think[-1] * n["Z"] / scale / k)
    served = [math.fsum(prefill[i] * decode[k - i] for i in range(k + 1)) for k in range(size + 1)]
    norm = [math.fsum(served[i] * think[k - i] for i in range(k + 1)) for k in (size - 1, size)]
    return norm[0] / norm[1] / scale


@dataclass(frozen=True)
class Row:
    """A model, the constants that are set, and where an independent throughput comes from."""

    model: str
    sets: Mapping[str, str]
    independent: Callable[[Numbers], float] | str = ""


ROWS = (
    Row("mm1n", {"N": "100000", "mu": "1", "Z": "100000"}, queue),
    Row("mm1n", {"N": "1000000", "mu": "1", "Z": "1000000"}, queue),
    Row("tandem", {"N": "500", "Z": "1000"}, tandem),
    Row("tandem", {"N": "500", "Z": "4"}, tandem),
    Row("lru", {"N": "30", "C": "15", "Z": "60"}),
    Row("lru", {"N": "32", "C": "16", "Z": "60"}),
    Row("lru_ps", {"N": "300", "C": "150", "Z": "600"}, "levels"),
    Row("lru_slot_pin", {"N": "20", "C": "10", "Z": "40"}),
    Row("amp_ps", {"N": "120", "C": "120", "Z": "310", "a": "3", "s_miss": "5"}, "lu"),
    Row("amp_ps", {"N": "168", "C": "168", "Z": "430", "a": "3", "s_miss": "5"}, "lu"),
)


def throughput(solved: Solved) -> tuple[float, float | None]:
    """The rate at which sessions come back, and the bound on its error."""
    found = {e.measure: e for e in solved.estimates}
    estimate = found["stage.think.throughput"]
    assert estimate.value is not None
    return float(estimate.value), estimate.bound


def row(what: Row, storm_states: int, seconds: float) -> str:
    """Measure one row."""
    program = load(PROGRAMS / f"{what.model}.sq", dict(what.sets)).program
    begin = time.process_time()
    chain = explore_chain(program, SolveOptions(states=20_000_000))
    between = time.process_time()
    solved = solve_chain(chain, program, SolveOptions(exact=False))
    end = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    value, bound = throughput(solved)
    name = f"{what.model} {' '.join(f'{k}={v}' for k, v in what.sets.items() if k in 'NCZ')}"
    other = independent(what, program, chain)
    off = "" if other is None else f"{abs(value / other - 1):.0e}"
    cells = (
        name, chain.size, len(chain.transitions), f"{between - begin:.1f}", f"{end - between:.1f}", f"{memory:.0f}",
        solved.solution.method.partition(",")[0], f"{value:.12g}", "" if bound is None else f"{bound:.0e}", off,
        *by_storm(chain, value, storm_states, seconds),
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def independent(what: Row, program: Program, chain: Chain) -> float | None:
    """The throughput from elsewhere, if there is one."""
    if callable(what.independent):
        return what.independent({c.name: float(c.folded.value) for c in program.constants})
    if not what.independent:
        return None
    return throughput(solve_chain(chain, program, SolveOptions(exact=False, method=what.independent)))[0]


def by_storm(chain: Chain, value: float, states: int, seconds: float) -> tuple[str, str, str, str]:
    """CPU seconds of the export, of Storm's builder on the file, of Storm with its solver; its distance from ours."""
    if chain.size > states:
        return "", "", "", ""
    begin = time.process_time()
    ready = explored(chain)
    model = umb_bytes(ready)
    exported = f"{time.process_time() - begin:.1f}"
    throughput_reward = ready.names.identifier("stage.think.throughput", "reward")
    built, _ = storm_seconds(umb_job(model, (), exact=False), seconds)
    spent, answer = storm_seconds(umb_job(model, [long_run(throughput_reward)], exact=False), seconds)
    off = answer.kind if isinstance(answer, StormFailure) else f"{abs(float(answer.values[0]) / value - 1):.0e}"
    return exported, f"{built:.1f}", f"{spent:.1f}", off


def storm_seconds(job: StormJob, seconds: float) -> tuple[float, StormAnswer | StormFailure]:
    """CPU seconds of a process of Storm with one job, its start included; and its answer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    (answer,) = run_storm([job], timeout=seconds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, answer


HEAD = (
    "model", "states", "transitions", "explore s", "solve s", "MB", "method", "throughput", "bound", "off",
    "export s", "Storm builds s", "Storm s", "Storm off",
)  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--storm", type=int, default=600_000, metavar="STATES")
    parser.add_argument("--seconds", type=float, default=60.0)
    args = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
    for what in ROWS:
        if not args.words or any(word in f"{what.model} {what.sets}" for word in args.words):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
                print(alone.submit(row, what, args.storm, args.seconds).result(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
