"""The tables of the compiled explorer: kinds, rules, impulses and factors by number, filled as they are asked for."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from serq.ir import program as p
from serq.semantics import frontier_state as f
from serq.semantics.events import Impulse
from serq.semantics.frontier_lone import Alone, Kind
from serq.semantics.records import DEAD, WAITING, Record
from serq.semantics.symbols import slim

_PER_KIND = (
    "what", "where", "symbol", "next_phase", "run_rule", "start_rule", "admitted", "admitted_earns", "queue_key",
)  # fmt: skip
_PER_KIND_AND_POOL = (
    "held", "entry", "ranked", "part", "need", "take", "evicted", "evicted_earns", "evict_key",
)  # fmt: skip
_PER_RULE = ("rule_begin", "rule_end")
_PER_WAY = ("way_factor", "way_earns", "way_next", "way_spawns")
_PER_WAY_AND_POOL = ("way_held", "way_entry", "way_dead")
_GONE = "gone"
_LARGEST = 1 << 40


class NotCompiledError(Exception):
    """The compiled explorer cannot do this program, though nothing is wrong with it. The text says why."""


def wholes(size: int, value: int = 0) -> Any:
    """An array of whole numbers, of one at least."""
    return np.full(max(size, 1), value, dtype=np.int64)


class Tables:
    """What is known so far, and the arrays of it in the record `x` of the compiled explorer."""

    def __init__(self, x: Any, alone: Alone, program: p.Program) -> None:
        self.x = x
        self.alone = alone
        self.program = program
        self.pools = len(program.pools)
        self.kinds: list[Kind | str] = []
        self.impulses: list[Impulse] = [()]
        self.factors: list[Fraction] = [Fraction(1)]
        self._kind_numbers: dict[Kind | str, int] = {}
        self._impulse_numbers: dict[Impulse, int] = {(): 0}
        self._factor_numbers: dict[Fraction, int] = {Fraction(1): 0}
        self._rules = self._ways = 0
        self._evict_keys: list[dict[int, Any]] = [{} for _ in program.pools]
        self._queue_keys: dict[int, Any] = {}
        self._pairs: dict[int, int] = {}
        self._fill_pairs(256)
        for names, width in (
            (_PER_KIND, 1), (_PER_KIND_AND_POOL, self.pools), (_PER_RULE, 1), (_PER_WAY, 1),
            (_PER_WAY_AND_POOL, self.pools),
        ):  # fmt: skip
            for name in names:
                setattr(x, name, wholes(64 * width, f.UNKNOWN))

    # -- numbers -----------------------------------------------------------------------------------------------------

    def kind(self, kind: Kind | str) -> int:
        """The number of a kind."""
        number = self._kind_numbers.get(kind)
        if number is None:
            number = len(self.kinds)
            if number >= f.MOST_KINDS:
                raise NotCompiledError("its sessions can be in too many situations")
            self._kind_numbers[kind] = number
            self.kinds.append(kind)
            self._room(_PER_KIND, 1, number)
            self._room(_PER_KIND_AND_POOL, self.pools, number)
            self._describe(number, kind)
        return number

    def impulse(self, earned: Impulse) -> int:
        """The number of an impulse."""
        return _number(self._impulse_numbers, self.impulses, earned, 1 << f.IMPULSE_BITS)

    def factor(self, value: Fraction | int) -> int:
        """The number of a factor."""
        return _number(self._factor_numbers, self.factors, Fraction(value), 1 << f.FACTOR_BITS)

    def _room(self, names: Sequence[str], width: int, place: int) -> None:
        """Let the arrays have the place."""
        for name in names:
            old = getattr(self.x, name)
            if len(old) < (place + 1) * width:
                fresh = wholes(2 * len(old), f.UNKNOWN)
                fresh[: len(old)] = old
                setattr(self.x, name, fresh)

    # -- kinds -------------------------------------------------------------------------------------------------------

    def _describe(self, number: int, kind: Kind | str) -> None:
        x, base = self.x, number * self.pools
        for name in ("held", "entry", "ranked", "part", "need", "take", "evict_key"):
            getattr(x, name)[base : base + self.pools] = 0
        x.queue_key[number] = 0
        if isinstance(kind, str):
            x.what[number] = f.DEAD
            return
        for scope in kind.scopes:
            for pool, units in zip(scope[1::2], scope[2::2], strict=True):
                x.held[base + pool] += _whole(units)
        for pool, units, *rank in kind.entries:
            x.entry[base + pool] = _whole(units)
            x.ranked[base + pool] = int(rank != [WAITING])
        if not isinstance(kind, Record):
            x.what[number] = f.READY
        elif kind.pc == DEAD:
            x.what[number] = f.DEAD
        elif isinstance(self.program.code[kind.pc], p.Run):
            self._at_stage(number, kind)
        else:
            self._in_queue(number, kind)
        self._evict_key(number, kind)

    def _at_stage(self, number: int, kind: Record) -> None:
        stage, law, phase, _ = kind.place
        self.x.where[number] = stage
        if phase == WAITING:
            self.x.what[number] = f.WAITING
            return
        self.x.what[number] = f.SERVED
        self.x.symbol[number] = self.alone.laws.laws[law].symbols[phase]

    def _in_queue(self, number: int, kind: Record) -> None:
        pool, _, *pools = kind.place
        base = number * self.pools
        self.x.what[number], self.x.where[number] = f.QUEUED, pool
        for m in pools:
            self.x.part[base + m] = 1
        for m, units in self.alone.needs(kind).items():
            self.x.need[base + m] = _whole(units)
        if self.program.pools[pool].queue:
            self._queue_keys[number] = self.alone.queue_keys(kind)
            _rank(self.x.queue_key, self._queue_keys, 1, 0)

    def _evict_key(self, number: int, kind: Kind) -> None:
        for pool, _, *_ in kind.entries:
            if self.program.pools[pool].evict:
                keys = self._evict_keys[pool]
                keys[number] = self.alone.eviction_keys(kind, pool)
                _rank(self.x.evict_key, keys, self.pools, pool)

    # -- rules -------------------------------------------------------------------------------------------------------

    def answer(self, asked: int, a: int, b: int) -> None:
        """Work out what the compiled explorer has asked for."""
        match asked:
            case f.RUN:
                self.x.run_rule[a] = self._run_rule(self._known(a))
            case f.START:
                self.x.start_rule[a] = self._start_rule(self._known(a))
            case f.ADMIT:
                self._admit(a, self._known(a))
            case f.EVICT:
                self._evict(a, self._known(a), b)
            case f.ARRIVE:
                self.x.arrival_rule = self._arrival_rule()
            case f.SPEED:
                self._speed(a, b)
            case f.PHASE:
                self._phase(a, self._known(a))
            case f.IMPULSES:
                self._pair(asked, a, b, self.impulse(_sum(self.impulses[a], self.impulses[b])))
            case _:
                self._pair(asked, a, b, self.factor(self.factors[a] * self.factors[b]))

    def _known(self, number: int) -> Kind:
        kind = self.kinds[number]
        assert not isinstance(kind, str)
        return kind

    def _new_rule(self, ways: int) -> tuple[int, int]:
        """The number of a new rule, and that of its first way."""
        rule, first = self._rules, self._ways
        self._rules, self._ways = rule + 1, first + ways
        self._room(_PER_RULE, 1, rule)
        self._room(_PER_WAY, 1, first + ways)
        self._room(_PER_WAY_AND_POOL, self.pools, first + ways)
        self.x.rule_begin[rule], self.x.rule_end[rule] = first, first + ways
        for place in range(first, first + ways):
            self._way(place, 1, (), f.NOTHING, f.NOTHING)
        return rule, first

    def _way(self, place: int, probability: Fraction | int, earned: Impulse, after: int, spawned: int) -> None:
        x, base = self.x, place * self.pools
        x.way_factor[place], x.way_earns[place] = self.factor(probability), self.impulse(earned)
        x.way_next[place], x.way_spawns[place] = after, spawned
        x.way_held[base : base + self.pools] = 0
        x.way_entry[base : base + self.pools] = f.STAYS

    def _run_rule(self, kind: Kind) -> int:
        ways = list(self.alone.run(kind))
        rule, first = self._new_rule(len(ways))
        had = {pool for pool, *_ in kind.entries}
        for place, way in enumerate(ways, first):
            after = f.NOTHING if way.next is None else self.kind(way.next)
            spawned = f.NOTHING if way.spawned is None else self.kind(way.spawned)
            self._way(place, way.probability, way.earned, after, spawned)
            has = {pool for pool, *_ in way.next.entries} if way.next is not None else set()
            for pool in range(self.pools):
                at = place * self.pools + pool
                self.x.way_held[at] = _whole(way.held[pool])
                left = way.left[pool]
                if left is not None:
                    self.x.way_dead[at] = self.kind(left)
                    self.x.way_entry[at] = f.RENEWED_AND_LEFT if way.renewed[pool] else f.LEFT_BEHIND
                elif way.renewed[pool]:
                    self.x.way_entry[at] = f.RENEWED
                elif pool in had - has:
                    self.x.way_entry[at] = f.GOES
        return rule

    def _start_rule(self, kind: Kind) -> int:
        assert isinstance(kind, Record)
        stage, law, _, rank = kind.place
        start = self.alone.laws.laws[law].start
        rule, first = self._new_rule(len(start))
        for place, (phase, probability) in enumerate(start, first):
            after = self.kind(kind._replace(place=(stage, law, phase, rank)))
            self._way(place, probability, (), after, f.NOTHING)
        return rule

    def _arrival_rule(self) -> int:
        ways = list(self.alone.arrive())
        rule, first = self._new_rule(len(ways))
        for place, (probability, ready, earned) in enumerate(ways, first):
            self._way(place, probability, earned, f.NOTHING, self.kind(ready))
        return rule

    def _admit(self, number: int, kind: Kind) -> None:
        admission = self.alone.admit(kind)
        after = self.kind(admission.next)
        base = number * self.pools
        for pool, units in enumerate(admission.taken):
            self.x.take[base + pool] = _whole(units)
        self.x.admitted_earns[number] = self.impulse(admission.earned)
        self.x.admitted[number] = after

    def _evict(self, number: int, kind: Kind, pool: int) -> None:
        left, earned = self.alone.evict(kind, pool)
        after = self.kind(_GONE if left is None else left)
        place = number * self.pools + pool
        self.x.evicted_earns[place] = self.impulse(earned)
        self.x.evicted[place] = after

    def _speed(self, stage: int, present: int) -> None:
        speed = Fraction(1)
        if isinstance(self.program.stages[stage].kind, p.ProcessorSharing):
            speed = self.alone.speed(stage, present)
        self.x.speeds[stage * (self.x.room + 1) + present] = self.factor(speed) if speed else f.NOTHING

    def _phase(self, number: int, kind: Kind) -> None:
        assert isinstance(kind, Record)
        stage, law, phase, rank = kind.place
        following = self.alone.laws.laws[law].phases.after[phase]
        after = f.NOTHING
        if following is not None:
            after = self.kind(kind._replace(place=(stage, law, following, rank)))
        self.x.next_phase[number] = after

    # -- pairs -------------------------------------------------------------------------------------------------------

    def _pair(self, what: int, a: int, b: int, value: int) -> None:
        key = (a << 25) | (b << 1) | (what == f.FACTORS)
        self._pairs[key] = value
        if 2 * len(self._pairs) > len(self.x.pair_key):
            self._fill_pairs(4 * len(self.x.pair_key))
        else:
            self._put_pair(key, value)

    def _fill_pairs(self, size: int) -> None:
        self.x.pair_key, self.x.pair_value, self.x.pair_mask = wholes(size, -1), wholes(size), size - 1
        for key, value in self._pairs.items():
            self._put_pair(key, value)

    def _put_pair(self, key: int, value: int) -> None:
        mask = self.x.pair_mask
        at = (((key >> 25) * 31 + ((key >> 1) & ((1 << 24) - 1))) * 0x9E3779B1 >> 11) & mask
        while self.x.pair_key[at] >= 0:
            at = (at + 1) & mask
        self.x.pair_key[at], self.x.pair_value[at] = key, value


def _number(numbers: dict[Any, int], values: list[Any], value: Any, most: int) -> int:
    number = numbers.get(value)
    if number is None:
        number = numbers[value] = len(values)
        if number >= most:
            raise NotCompiledError("its events differ in too many ways")
        values.append(value)
    return number


def _rank(ranks: Any, keys: dict[int, Any], width: int, offset: int) -> None:
    """Number the keys in their order, equal ones alike."""
    order = {key: rank for rank, key in enumerate(sorted(set(keys.values())))}
    for number, key in keys.items():
        ranks[number * width + offset] = order[key]


def _sum(a: Impulse, b: Impulse) -> Impulse:
    earned = dict(a)
    for name, value in b:
        earned[name] = earned.get(name, Fraction(0)) + value
    return tuple(sorted((name, value) for name, value in earned.items() if value))


def _whole(units: Any) -> int:
    """Units as a whole number; it is told where they are none."""
    units = slim(units)
    if not isinstance(units, int) or abs(units) > _LARGEST:
        raise NotCompiledError("a pool is used in other than whole units")
    return units
