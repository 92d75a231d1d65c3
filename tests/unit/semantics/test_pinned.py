"""Which release ranks are dropped under `pin waiting`, and that dropping more would be wrong."""

import pytest
from chain_programs import PROGRAMS
from lumping import assert_every_row_adds_up

from serq.ir import program as p
from serq.pipeline import load_text
from serq.semantics import pinned
from serq.semantics.records import Quotients

SLOTS, KV = "pool slots { cap 2; }", "pool kv { cap 2; evict lru; pin waiting; }"


def dropped(pools: str, body: str) -> dict[int, set[int]]:
    """By the number of the hold in the text, the pools in which the rank of who waits there is dropped."""
    program = load_text(f"""stage s : fifo; stage d : delay; {pools} workload {{ arrive closed(3); }}
    session {{ loop {{ {body} run d (~exp(1)); }} }}""").program
    holds = [pc for pc, step in enumerate(program.code) if isinstance(step, p.Hold)]
    return {holds.index(pc): set(found) for pc, found in pinned.dropped_ranks(program).items()}


RUN = "run s (~exp(1));"


@pytest.mark.parametrize(
    ("pools", "body", "expected"),
    [
        # the hold itself consumes the entry
        (KV, f"hold kv (1) {{ {RUN} }} cache (1);", {0: {0}}),
        # not when it may leave a rest
        (KV, f"hold kv (1) reuse (1) {{ {RUN} }} cache (1);", {}),
        # nothing is pinned
        (KV.replace("pin waiting;", ""), f"hold kv (1) {{ {RUN} }} cache (1);", {}),
        # a queue that is served after the pool's own
        (f"{KV} {SLOTS}", f"hold slots (1) {{ hold kv (1) {{ {RUN} }} cache (1); }}", {0: {0}, 1: {0}}),
        # a queue that is served before, and shared
        (f"{SLOTS} {KV}", f"hold slots (1) {{ hold kv (1) {{ {RUN} }} cache (1); }}", {1: {1}}),
        # a queue that is served before, but lets one in at a time
        (f"{SLOTS} {KV}", f"hold slots (2) {{ hold kv (1) {{ {RUN} }} cache (1); }}", {0: {1}, 1: {1}}),
        # time passes before the second hold
        (f"{KV} {SLOTS}", f"hold slots (1) {{ {RUN} hold kv (1) {{ {RUN} }} cache (1); }}", {1: {0}}),
        # one branch does not go on to it
        (f"{KV} {SLOTS}", f"hold slots (1) {{ branch (0.5) {{ hold kv (1) {{ {RUN} }} cache (1); }} }}", {1: {0}}),
        # both do, or drop it
        (
            f"{KV} {SLOTS}",
            f"hold slots (1) {{ branch (0.5) {{ hold kv (1) {{ {RUN} }} cache (1); }} else {{ drop kv; {RUN} }} }}",
            {0: {0}, 1: {0}},
        ),
        # growth in the pool evicts in between
        (f"{KV} {SLOTS}", f"hold slots (1) {{ hold kv (1) {{ {RUN} grow kv (1); }} cache (1); }}", {1: {0}}),
        # a preemption takes the wait elsewhere
        (
            f"{KV} {SLOTS.replace('cap 2;', 'cap 2; preempt lifo;')}",
            f"hold slots (1) {{ hold kv (1) {{ {RUN} }} cache (1); }}",
            {0: {0}},
        ),
    ],
)
def test_dropped(pools: str, body: str, expected: dict[int, set[int]]) -> None:
    assert dropped(pools, body) == expected


def crowded(name: str) -> str:
    """Five sessions, so that one can wait, one be blocked, one be served and two leave prefixes of different ages."""
    text = PROGRAMS[name].replace("closed(3)", "closed(5)").replace("cap 3", "cap 6")
    return text.replace("~choice(1: 1, 2: 1)", "~choice(1: 1, 3: 1)")


@pytest.mark.parametrize("name", ["pinned two", "pinned late"])
def test_what_is_dropped_may_be(name: str) -> None:
    assert_every_row_adds_up(load_text(crowded(name)).program, Quotients(pinned_ranks=False))


def test_what_is_not_dropped_may_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned._Fate, "_undisturbed", lambda self, hold: True)
    with pytest.raises(AssertionError):
        assert_every_row_adds_up(load_text(crowded("pinned two")).program, Quotients(pinned_ranks=False))
