"""Pending jobs: whatever is put, taken and removed, the first is the one of the least time, then of the least order."""

from array import array
from random import Random

import pytest

from serq.codegen import compile_module, jit
from serq.engine.heap import FEW, IN_TURN, PAD, SHORT
from serq.engine.state import INF, NEVER, NOBODY

TEXT = """\
from serq.codegen.lang import f64, i64
from serq.engine.heap import foremost, put, remove, take
from serq.engine.state import Sim
def insert(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> f64:
    return put(s, region, time, order, slot)
def first(s: Sim, region: i64) -> i64:
    return foremost(s, region)
def pop(s: Sim, region: i64) -> f64:
    return take(s, region)
def drop(s: Sim, region: i64, slot: i64) -> None:
    remove(s, region, slot)
"""
CAP, REGIONS = 60, 2
BACKENDS = ("cpython", "llvm") if jit.available() else ("cpython",)


def wholes(n, value=0):
    return array("q", [value]) * n


@pytest.fixture(scope="module", params=BACKENDS)
def program(request):
    """CPython runs the text as it stands, so that the defects put back in `tests/mutations/engine.toml` are in it."""
    return compile_module(TEXT, request.param, checked=request.param == "llvm", cached=False)


def empty(program):
    places = (CAP + PAD) * REGIONS
    more = {"top": wholes(REGIONS, 4 * FEW - 4), "heap_room": wholes(REGIONS, FEW)}
    return program.record(
        "Sim", cap=CAP, heap_time=array("d", [INF]) * places, heap_order=wholes(places), heap_slot=wholes(places),
        heap_size=wholes(REGIONS), hole=wholes(REGIONS), **more,
        first_time=array("d", [INF]) * REGIONS, first_order=wholes(REGIONS, NEVER), first_slot=wholes(REGIONS, NOBODY),
        sequence=array("Q", [IN_TURN & SHORT]) * REGIONS, half_bytes=array("Q", [SHORT]) * REGIONS,
    )  # fmt: skip


class Both:
    """Two regions, and beside each a sorted list of what should be in it."""

    def __init__(self, program, seed):
        self.program, self.sim = program, empty(program)
        self.random = Random(seed)
        self.there = [[], []]
        self.order = 0

    def put(self, region, time):
        slot = self.random.choice(sorted(set(range(CAP)) - {s for _, _, s in self.there[region]}))
        first = self.program.call("insert", self.sim, region, time, self.order, slot)
        self.there[region] = sorted([*self.there[region], (time, self.order, slot)])
        self.order += 1
        assert first == self.first(region)[0]

    def take(self, region):
        assert self.program.call("first", self.sim, region) == self.there[region].pop(0)[2]
        assert self.program.call("pop", self.sim, region) == self.first(region)[0]

    def remove(self, region):
        entry = self.random.choice(self.there[region])
        self.there[region].remove(entry)
        self.program.call("drop", self.sim, region, entry[2])

    def first(self, region):
        return self.there[region][0] if self.there[region] else (INF, NEVER, NOBODY)

    def check(self):
        """Where jobs have clocks of their own, their order is compared with that of other clocks."""
        sim = self.sim
        assert (sim.first_time[0], sim.first_order[0], sim.first_slot[0]) == self.first(0)
        assert sim.first_time[1] == self.first(1)[0]


@pytest.mark.parametrize("values", [1, 3, 10**6], ids=["one time", "many ties", "few ties"])
@pytest.mark.parametrize("seed", range(4))
def test_the_first_is_always_the_first(program, seed, values):
    both = Both(program, seed)
    deepest = [0, 0]
    for step in range(1500):
        region = both.random.randrange(REGIONS)
        size = len(both.there[region])
        rising = (step // 150) % 2 == 0  # beyond what a list holds, and down to nothing
        roll = both.random.random()
        if size == 0 or (size < CAP and roll < (0.75 if rising else 0.25)):
            both.put(region, float(both.random.randrange(values)) / 4)
        elif roll > 0.95:
            both.remove(region)
        else:
            both.take(region)
        deepest[region] = max(deepest[region], len(both.there[region]))
        both.check()
    assert min(deepest) > 2 * FEW + 5
    for region in range(REGIONS):
        while both.there[region]:
            both.take(region)
            both.check()


def test_what_never_happens_has_a_first_too(program):
    both = Both(program, 1)
    for _ in range(3):
        both.put(0, INF)
    both.check()
    both.put(0, 1.0)
    both.check()
    both.take(0)
    both.take(0)
    both.check()
