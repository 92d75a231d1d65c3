"""How fast the engines are, against each other and against other simulators: `python tests/bench/bench.py`.

All are measured in one run, interleaved, in CPU time, and the table has the medians of the ratios of neighbouring
measurements. The unit is the event of the model (an arrival or the end of a service). What others count does not
matter: each simulates time of the same model. The peer, SimPy and Ciw take part where they are installed.
"""

import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from serq.engine.run import simulator
from serq.engine.settings import Settings
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, load_text, run_options
from serq.semantics.reference import simulate

ROUNDS = 5
SECONDS = 0.15
"""CPU time that one measurement should take."""

MODELS = {
    "M/M/1//8": """stage svc : fifo; stage think : delay; workload { arrive closed(8); }
        session { loop { set t0 = now; run svc (~exp(1)); observe r = now - t0; run think (~exp(4)); } }""",
    "M/M/1//200": """stage svc : fifo; stage think : delay; workload { arrive closed(200); }
        session { loop { set t0 = now; run svc (~exp(1)); observe r = now - t0; run think (~exp(190)); } }""",
    "M/H2/1": """stage svc : fifo; workload { arrive poisson(0.7); }
        session { set t0 = now; run svc (~h2(1, 4)); observe r = now - t0; }""",
    "M/H2/1-PS": """stage svc : ps(1); workload { arrive poisson(0.7); }
        session { set t0 = now; run svc (~h2(1, 4)); observe r = now - t0; }""",
    "central server": """stage cpu : fifo; stage d1 : fifo; stage d2 : fifo; stage term : delay;
        workload { arrive closed(16); }
        session { loop { run term (~exp(5)); set t0 = now; set u = 1;
          loop { run cpu (~exp(0.05)); set u = ~uniform(0, 1);
            branch (u < 0.1) { observe r = now - t0; run term (~exp(5)); set t0 = now; }
            else { branch (u < 0.6) { run d1 (~exp(0.08)); } else { run d2 (~exp(0.1)); } } } } }""",
}  # fmt: skip

Contender = Callable[[float, int], object]
"""Simulates up to a horizon with a seed."""


@dataclass(frozen=True)
class Speed:
    """Median CPU seconds for one unit of the model's time, by contender, with the ratios to the compiled engine."""

    events: float
    seconds: dict[str, float]
    ratios: dict[str, float]


def contenders(name: str, text: str) -> dict[str, Contender]:
    """Who can simulate a model."""
    program = load_text(text).program
    out: dict[str, Contender] = {"compiled": _compiled(program), "reference": _reference(program)}
    try:
        import pyserq
    except ImportError:
        pass
    else:
        out["pyserq"] = lambda horizon, seed: pyserq.run(
            pyserq.compile(source=text, sets={}, seed=seed, horizon=horizon, warmup=0.0)
        )
    for other in (_simpy, _ciw):
        run = other(name)
        if run is not None:
            out[other.__name__[1:]] = run
    return out


def _compiled(program: Program) -> Contender:
    compiled = simulator(program, keep_samples=False)
    return lambda horizon, seed: compiled.run(Settings(seed, horizon, 0.0, 32, keep_samples=False))


def _reference(program: Program) -> Contender:
    def run(horizon: float, seed: int) -> object:
        options = run_options(program, SimulateOptions(seed=seed, horizon=horizon, warmup=0.0))
        return simulate(program, replace(options, keep_samples=False))

    return run


def _simpy(name: str) -> Contender | None:
    """M/M/1//N in SimPy; None for other models or where SimPy is missing."""
    try:
        import simpy
    except ImportError:
        return None
    if not name.startswith("M/M/1//"):
        return None
    n, think = (8, 4.0) if name.endswith("//8") else (200, 190.0)

    def run(horizon: float, seed: int) -> object:
        draws, env = random.Random(seed), simpy.Environment()
        server, total = simpy.Resource(env, 1), [0.0]

        def customer():
            while True:
                begin = env.now
                with server.request() as turn:
                    yield turn
                    yield env.timeout(draws.expovariate(1.0))
                total[0] += env.now - begin
                yield env.timeout(draws.expovariate(1 / think))

        for _ in range(n):
            env.process(customer())
        env.run(horizon)
        return total

    return run


def _ciw(name: str) -> Contender | None:
    """M/H2/1 in Ciw; None for other models or where Ciw is missing."""
    try:
        import ciw
    except ImportError:
        return None
    if name != "M/H2/1":
        return None
    p = 0.5 * (1 + (3 / 5) ** 0.5)

    def run(horizon: float, seed: int) -> object:
        ciw.seed(seed)
        service = ciw.dists.HyperExponential([2 * p, 2 * (1 - p)], [p, 1 - p])
        network = ciw.create_network(
            arrival_distributions=[ciw.dists.Exponential(0.7)], service_distributions=[service], number_of_servers=[1]
        )
        simulation = ciw.Simulation(network)
        simulation.simulate_until_max_time(horizon)
        return simulation

    return run


def measure(name: str, text: str) -> Speed:
    """Every contender, interleaved."""
    who = contenders(name, text)
    horizons = {key: _horizon(run) for key, run in who.items()}
    probe = who["compiled"](10_000.0, 1)
    rounds = [
        {key: _seconds(run, horizons[key], seed) / horizons[key] for key, run in who.items()} for seed in range(ROUNDS)
    ]
    seconds = {key: statistics.median(r[key] for r in rounds) for key in who}
    ratios = {key: statistics.median(r[key] / r["compiled"] for r in rounds) for key in who}
    return Speed(probe.events / 10_000.0, seconds, ratios)


def _horizon(run: Contender) -> float:
    """A horizon that takes about `SECONDS`."""
    horizon = 200.0
    while (taken := _seconds(run, horizon, 99)) < SECONDS / 4:
        horizon *= 4
    return horizon * SECONDS / taken


def _seconds(run: Contender, horizon: float, seed: int) -> float:
    begin = time.process_time()
    run(horizon, seed)
    return time.process_time() - begin


def main() -> None:
    """Print the table as Markdown."""
    print(f"{platform.machine()}, Python {platform.python_version()}, medians of {ROUNDS}\n")
    print("| model | compiled, events/s | reference | pyserq | SimPy | Ciw |\n|---|---|---|---|---|---|")
    for name, text in MODELS.items():
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        speed = measure(name, text)
        cells = [f"{speed.ratios[key]:.3g}" if key in speed.ratios else "-" for key in _OTHERS]
        rate = speed.events / speed.seconds["compiled"]
        print(f"| {name} | {rate / 1e6:.1f} M | {' | '.join(cells)} |", flush=True)


_OTHERS = ("reference", "pyserq", "simpy", "ciw")

if __name__ == "__main__":
    main()
