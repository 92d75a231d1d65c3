"""Every rule of a configuration at rest is noticed when it is broken."""

from collections.abc import Callable

import pytest
from toy import play

from serq.semantics.configuration import Configuration, Entry, Status
from serq.semantics.invariants import InvariantError, check_invariants, problems_of

PROGRAM = """
    pool m { cap 20; block 2; preempt lifo; }
    pool z { cap 1; }
    stage svc : fifo;
    stage e : step { budget 2; cost 1; memory m; }
    stage d : delay;
    workload { arrive batch(7); }
    session {
      branch (serial == 0) { hold m (4) { run d (0.5); } cache (4); hold m (2) reuse (2) { run d (9); } end; }
      branch (serial == 1) { hold m (2) { run d (0.25); } cache (2); run d (9); end; }
      branch (serial < 4) { hold m (4) { run e decode (9); } end; }
      branch (serial == 4) { hold z (1) { run svc (9); } end; }
      branch (serial == 5) { run svc (9); end; }
      hold z (1) { }
    }
"""
"""At 1.5: 0 holds 2 and left 2 dead; 1 owns 2; 2 and 3 hold 4 each, resident; 4 is served, 5 and 6 wait for it."""


played = play(PROGRAM, until=1.5)


@pytest.fixture
def configuration() -> Configuration:
    """A configuration with something in every place."""
    return play(PROGRAM, until=1.5).machine.configuration


def test_a_configuration_at_rest_breaks_none(configuration: Configuration) -> None:
    assert list(problems_of(played.machine.program, configuration)) == []
    assert [len(pool.allocations) for pool in configuration.pools] == [3, 1]
    assert len(configuration.pools[0].dead) == 1


def _swap(things: list[object]) -> None:
    things[0], things[1] = things[1], things[0]


BREAKS: dict[str, Callable[[Configuration], object]] = {
    "are ready": lambda c: c.ready.append(c.sessions[0]),
    "used is": lambda c: setattr(c.pools[0], "used", 3.0),
    "cached is": lambda c: setattr(c.pools[0], "cached", 3.0),
    "exceed the cap": lambda c: (
        setattr(c.pools[0].allocations[0], "units", 100.0),
        setattr(c.pools[0], "used", c.pools[0].used + 100.0 - 4.0),
    ),
    "a negative allocation": lambda c: setattr(c.pools[0].allocations[0], "units", -2.0),
    "not in whole blocks": lambda c: setattr(c.pools[0].allocations[0], "units", 3.0),
    "an empty entry": lambda c: setattr(c.pools[0].entries[1], "units", 0.0),
    "an entry is not its owner's": lambda c: setattr(c.pools[0].entries[1], "dead", True),
    "allocations are out of order": lambda c: _swap(c.pools[0].allocations),  # type: ignore[arg-type]
    "dead entries are out of order": lambda c: c.pools[0].dead.append(Entry(c.sessions[0], 2.0, 0.0, -9, dead=True)),
    "a pool that is not its first": lambda c: setattr(c.pools[1].queue[0], "pools", (0,)),
    "a job of another stage": lambda c: setattr(c.stages[0].waiting[0], "stage", 1),
    "a job whose session does not know it": lambda c: setattr(c.sessions[5], "job", c.sessions[4].job),
    "servers are busy while": lambda c: c.stages[0].serving.clear(),
    "jobs wait at a stage": lambda c: c.stages[2].waiting.append(c.stages[0].waiting[0]),
    "the residents are out of order": lambda c: _swap(c.stages[1].residents),  # type: ignore[arg-type]
    "a job that is no resident": lambda c: c.stages[1].residents.pop(),
    "still being put together": lambda c: setattr(c.stages[1], "budget_left", 1.0),
    "filed under": lambda c: c.sessions.update({99: c.sessions[0]}),
    "is no instruction": lambda c: setattr(c.sessions[0], "pc", 99),
    "it is GROWING, and found at ['AT_STAGE']": lambda c: setattr(c.sessions[0], "status", Status.GROWING),
    "found at []": lambda c: c.pools[1].queue.clear(),
    "found at ['QUEUED', 'QUEUED']": lambda c: c.pools[1].queue.append(c.pools[1].queue[0]),
    "its job is at another stage": lambda c: setattr(c.sessions[4], "place", 2),
    "without being at a stage": lambda c: setattr(c.sessions[6], "job", c.sessions[4].job),
    "and the allocations of pool m differ": lambda c: c.sessions[2].scopes.clear(),
    "its holds do not nest": lambda c: c.sessions[2].scopes.append(c.sessions[2].scopes[0]),
}


@pytest.mark.parametrize("says", BREAKS)
def test_a_broken_rule_is_noticed(says: str, configuration: Configuration) -> None:
    BREAKS[says](configuration)
    with pytest.raises(InvariantError) as caught:
        check_invariants(played.machine.program, configuration)
    assert says in str(caught.value)
