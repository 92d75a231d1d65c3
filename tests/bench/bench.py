"""How fast the engines are, against each other and against other simulators: `python tests/bench/bench.py [WORD...]`.

All are measured in one run, in turn, in CPU time, and the tables have the medians of the ratios within a round. The
unit is the event of the model: an arrival, the end of a service, the end of an iteration. What others count does not
matter: each simulates time of the same model. The peer, SimPy, Ciw and a C compiler take part where they are installed.
Words choose models by their names; `--rounds` and `--seconds` say how often and how long each is measured.
"""

import argparse
import math
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from workloads import MODELS, Model

from serq.engine.run import simulator
from serq.engine.settings import Settings
from serq.engine.supported import why_not
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, load_text, run_options
from serq.semantics.reference import simulate

OTHERS = ("C loop", "pyserq", "SimPy", "Ciw", "reference")

Contender = Callable[[float, int], float]
"""Simulates up to a horizon with a seed and gives the mean response."""

_FAR_OFF = 0.5
"""So far from our mean response nobody gets by chance."""


@dataclass(frozen=True)
class Speed:
    """Events per second of CPU time of the compiled engine (or, where it cannot run the model, of the reference), and
    how many times longer than it each other one takes.
    """

    engine: str
    events: float
    ratios: dict[str, float]
    means: dict[str, float]


def contenders(model: Model) -> dict[str, Contender]:
    """Who can simulate a model; the first is what the others are compared with."""
    program = load_text(model.text).program
    out: dict[str, Contender] = {}
    if why_not(program) is None:
        out["compiled"] = _compiled(program)
    out["reference"] = _reference(program)
    for name, make in (("C loop", _hand), ("pyserq", _pyserq), ("SimPy", _simpy), ("Ciw", _ciw)):
        run = make(model)
        if run is not None:
            out[name] = run
    return out


def _compiled(program: Program) -> Contender:
    compiled = simulator(program, keep_samples=False, opt=2)

    def run(horizon: float, seed: int) -> float:
        result = compiled.run(Settings(seed, horizon, 0.0, 32, keep_samples=False))
        sums = [row.observes[program.observes.index("response")] for row in result.rows]
        return sum(s for s, _ in sums) / max(sum(n for _, n in sums), 1)

    return run


def _events(program: Program) -> float:
    """Events for each unit of the model's time."""
    horizon = 5000.0
    if why_not(program) is None:
        settings = Settings(1, horizon, 0.0, 32, keep_samples=False)
        return simulator(program, keep_samples=False, opt=2).run(settings).events / horizon
    return simulate(program, run_options(program, SimulateOptions(seed=1, horizon=200.0, warmup=0.0))).events / 200.0


def _reference(program: Program) -> Contender:
    def run(horizon: float, seed: int) -> float:
        options = run_options(program, SimulateOptions(seed=seed, horizon=horizon, warmup=0.0))
        sums = simulate(program, replace(options, keep_samples=False)).counts.observes["response"]
        return sum(s for s, _ in sums) / max(sum(n for _, n in sums), 1)

    return run


def _hand(model: Model) -> Contender | None:
    from by_hand import by_hand

    return by_hand(model)


def _pyserq(model: Model) -> Contender | None:
    try:
        import pyserq
    except ImportError:
        return None
    text = model.text

    def run(horizon: float, seed: int) -> float:
        result = pyserq.run(pyserq.compile(source=text, sets={}, seed=seed, horizon=horizon, warmup=0.0))
        samples = result.observe("response").samples
        return sum(samples) / max(len(samples), 1)

    return run


def _simpy(model: Model) -> Contender | None:
    try:
        from by_simpy import by_simpy
    except ImportError:
        return None
    return by_simpy(model)


def _ciw(model: Model) -> Contender | None:
    try:
        from by_ciw import by_ciw
    except ImportError:
        return None
    return by_ciw(model)


# -- measuring -------------------------------------------------------------------------------------------------------


def measure(model: Model, rounds: int, seconds: float) -> Speed:
    """Every contender in every round."""
    who = contenders(model)
    first = next(iter(who))
    if model.horizon is not None and first != "reference":
        del who["reference"]  # it would take minutes
    horizons = {name: model.horizon or _horizon(run, seconds) for name, run in who.items()}
    means: dict[str, list[float]] = {name: [] for name in who}
    taken: list[dict[str, float]] = []
    for seed in range(rounds):
        this = {}
        for name, run in who.items():
            spent, mean = _spent(run, horizons[name], seed)
            this[name] = spent / horizons[name]
            means[name].append(mean)
        taken.append(this)
    per_time = _events(load_text(model.text).program)
    ratios = {name: statistics.median(t[name] / t[first] for t in taken) for name in who if name != first}
    rate = per_time / statistics.median(t[first] for t in taken)
    return Speed(first, rate, ratios, {name: statistics.median(m) for name, m in means.items()})


def _horizon(run: Contender, seconds: float) -> float:
    """A horizon that takes so many seconds."""
    horizon = 50.0
    while (taken := _spent(run, horizon, 99)[0]) < seconds / 4:
        horizon *= 4
    return horizon * seconds / taken


def _spent(run: Contender, horizon: float, seed: int) -> tuple[float, float]:
    begin = time.process_time()
    mean = run(horizon, seed)
    return time.process_time() - begin, mean


def _row(model: Model, speed: Speed) -> str:
    cells = [f"{speed.ratios[name]:.3g}" if name in speed.ratios else "-" for name in OTHERS[1:]]
    hand = f"{speed.ratios['C loop']:.2f}" if "C loop" in speed.ratios else "-"
    star = "" if speed.engine == "compiled" else " (reference)"
    return f"| {model.name} | {speed.events / 1e6:.3g} M{star} | {hand} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table as Markdown, and complain about whoever simulates another model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="models whose names contain one of these")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU time of one measurement")
    given = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    print(f"{platform.machine()}, Python {platform.python_version()}, medians of {given.rounds}\n")
    print("| model | compiled, events/s | speed of the C loop | pyserq | SimPy | Ciw | reference |")
    print("|---|---|---|---|---|---|---|")
    for model in MODELS:
        if given.words and not any(word in model.name for word in given.words):
            continue
        speed = measure(model, given.rounds, given.seconds)
        print(_row(model, speed), flush=True)
        ours = speed.means[speed.engine]
        for name, mean in speed.means.items():
            if not math.isnan(mean) and abs(mean - ours) > _FAR_OFF * ours:
                print(f"{model.name}: {name} has a mean response of {mean:g}, we have {ours:g}", file=sys.stderr)


if __name__ == "__main__":
    main()
