"""The queueing models in Ciw. Closed populations arrive at time 0 and never leave."""

from collections.abc import Callable
from typing import Any

import ciw
from workloads import Model

Run = Callable[[float, int], float]
"""Simulates up to a horizon with a seed and gives the mean response."""

_BRANCH = 0.8872983346207417  # of the balanced hyperexponential with squared coefficient of variation 4


def by_ciw(model: Model) -> Run | None:
    """The model, or None where it cannot be stated."""
    exponential = ciw.dists.Exponential
    hyper = ciw.dists.HyperExponential([2 * _BRANCH, 2 * (1 - _BRANCH)], [_BRANCH, 1 - _BRANCH])
    match model.kind, model.numbers:
        case "closed", (population, think):
            services, servers = [exponential(1 / think), exponential(1.0)], [float("inf"), 1]
            return _run(_population(population, 2), services, servers, [[0.0, 1.0], [1.0, 0.0]])
        case "open", (rate,):
            return _run([exponential(rate)], [hyper], [1], [[0.0]], measured=1)
        case "shared", (rate,):
            return _run([exponential(rate)], [hyper], [float("inf")], [[0.0]], measured=1, node_class=ciw.PSNode)
        case "central", (population,):
            services = [exponential(1 / mean) for mean in (5.0, 0.05, 0.08, 0.1)]
            routing = [[0.0, 1.0, 0.0, 0.0], [0.1, 0.0, 0.5, 0.4], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
            return _run(_population(population, 4), services, [float("inf"), 1, 1, 1], routing, measured=0)
        case _:
            return None


def _population(size: float, nodes: int) -> list[Any]:
    return [ciw.dists.Sequential([0.0] * int(size) + [float("inf")]), *[None] * (nodes - 1)]


def _run(
    arrivals: list[Any], services: list[Any], servers: list[float], routing: list[list[float]], measured: int = 2,
    **options: Any,
) -> Run:  # fmt: skip
    """`measured` is the node whose mean stay is the response; 0 where no single one is."""

    def run(horizon: float, seed: int) -> float:
        ciw.seed(seed)
        network = ciw.create_network(
            arrival_distributions=arrivals, service_distributions=services, number_of_servers=servers, routing=routing
        )
        simulation = ciw.Simulation(network, **options)
        simulation.simulate_until_max_time(horizon)
        stays = [r.exit_date - r.arrival_date for r in simulation.get_all_records() if r.node == measured]
        return sum(stays) / len(stays) if measured else float("nan")

    return run
