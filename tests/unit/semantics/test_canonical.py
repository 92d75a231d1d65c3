"""States and configurations: there and back, for every state of every small program."""

import pytest
from chain_programs import PROGRAMS
from lumping import explored

from serq.pipeline import load_text
from serq.semantics.records import Quotients


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("quotients", [Quotients(), Quotients(symmetry=False, pinned_ranks=False)], ids=["all", "some"])
def test_there_and_back(name: str, quotients: Quotients) -> None:
    exploration = explored(load_text(PROGRAMS[name]).program, quotients)
    codec = exploration.events.codec
    for state in exploration.states:
        configuration, jobs, phases = codec.decode(state)
        assert len(jobs) == len(state)
        assert codec.encode(configuration, phases) == state


@pytest.mark.parametrize("name", ["lru", "preempted by key", "arrays", "worth", "shortest first"])
def test_the_order_of_sessions_means_nothing(name: str) -> None:
    exploration = explored(load_text(PROGRAMS[name]).program, Quotients())
    codec = exploration.events.codec
    for state in exploration.states:
        configuration, _, phases = codec.decode(tuple(reversed(state)))
        assert codec.encode(configuration, phases) == state
