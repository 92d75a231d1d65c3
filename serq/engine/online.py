"""Online estimates of stages in restricted Python, as `serq.semantics.online` has them."""

from serq.codegen.lang import f64, i64
from serq.engine.arithmetic import over
from serq.engine.state import INF, Sim

WEIGHT = 0.01
HIGHEST_RHO = 0.99


def weighted(mean: f64, sample: f64, samples: i64) -> f64:
    """The mean with one sample more, of which there have been so many."""
    return mean + WEIGHT * (sample - mean) if samples > 0 else sample


def learn_joined(s: Sim, stage: i64) -> None:
    """A job is about to join: the gap since the last one is known."""
    arrivals = s.online.arrivals[stage]
    if arrivals > 0:
        s.online.gap[stage] = weighted(s.online.gap[stage], s.now - s.online.last[stage], arrivals - 1)
    s.online.last[stage] = s.now
    s.online.arrivals[stage] = arrivals + 1


def learn_done(s: Sim, first: i64) -> None:
    """Jobs are done, the session of the first one about to run on, the others ready: their stays are known."""
    slot = first
    following = s.ready_head
    while slot >= 0:
        learn_left(s, s.place[slot], slot)
        slot = following
        if slot >= 0:
            following = s.follow[slot]


def learn_left(s: Sim, stage: i64, slot: i64) -> None:
    """A job is done: its wait and its service are known."""
    begun = s.begun[slot] if s.servers[stage] > 0 else s.joined[slot]
    departures = s.online.departures[stage]
    s.online.wait[stage] = weighted(s.online.wait[stage], begun - s.joined[slot], departures)
    s.online.service[stage] = weighted(s.online.service[stage], s.now - begun, departures)
    s.online.departures[stage] = departures + 1


def est_wait(s: Sim, stage: i64) -> f64:
    """The mean wait."""
    return s.online.wait[stage]


def est_lambda(s: Sim, stage: i64) -> f64:
    """The rate of arrivals; gaps of 0 only give an infinite one."""
    if s.online.arrivals[stage] < 2:
        return 0.0
    return 1.0 / s.online.gap[stage] if s.online.gap[stage] > 0.0 else INF


def est_rho(s: Sim, stage: i64) -> f64:
    """The load, at most 0.99."""
    if s.online.arrivals[stage] < 2 or not s.online.service[stage] > 0.0:
        return 0.0
    return min(HIGHEST_RHO, est_lambda(s, stage) * s.online.service[stage])


def price(s: Sim, stage: i64, hit: f64, extra: f64) -> f64:
    """The M/G/1 price of so much more work after a hit: the derivative of the Pollaczek-Khinchine formula."""
    rate = est_lambda(s, stage)
    rho = est_rho(s, stage)
    second = (hit + extra) * (hit + extra) - hit * hit
    queued = over(rate * est_wait(s, stage) * extra, 1.0 - rho)
    return extra + over(rate * second, 2.0 * (1.0 - rho)) + queued
