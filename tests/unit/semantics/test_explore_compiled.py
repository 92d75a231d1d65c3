"""The compiled explorer finds the chain of the reference explorer: states, transitions, rewards, labels."""

from fractions import Fraction
from math import comb
from pathlib import Path

import pooled_chains
import pytest
from chain_programs import PROGRAMS
from finite_programs import finite_program
from two_explorers import assert_alike

from serq.base.errors import LimitError, OutsideFragmentError
from serq.codegen import Compiled
from serq.ir.packed import PackedTransitions
from serq.ir.program import Program
from serq.pipeline import load, load_text, solve_chain
from serq.semantics.explore import Exploration, ExploreOptions, explore
from serq.semantics.explore_fast import compiled
from serq.semantics.explore_packed import Reader, compiled_chain, search
from serq.semantics.frontier_tables import NotCompiledError
from serq.semantics.records import Quotients

VALUES = Path(__file__).parents[2] / "data" / "values" / "programs"
QUEUE = """let N = 3; stage svc : fifo; stage think : delay; workload { arrive closed(N); }
session { loop { set t0 = now; run svc (~exp(1)); observe r = now - t0; run think (~exp(4)); } }"""
NOT_COMPILED = {
    "sharing", "loss", "blocks", "growing", "preempted", "preempted length", "preempted inner", "preempted by key",
    "victims by key", "arrays", "serials",
}  # fmt: skip
SIZES = {
    "mm1n": {"N": 4}, "mmcn": {"N": 4}, "ps": {"N": 4}, "tandem": {"N": 4}, "twoclass": {"N": 4}, "mgn": {"N": 4},
    "lru": {"N": 4, "C": 2}, "lru_ps": {"N": 4, "C": 3}, "lru_slot": {"N": 4, "C": 3},
    "lru_slot_pin": {"N": 4, "C": 2}, "amp": {"N": 4, "C": 4}, "amp_ps": {"N": 4, "C": 5},
    "lru_slot_key": {"N": 4, "C": 3}, "lru_sizes": {"N": 4, "C": 3},
    "pool2": {"N": 4}, "mm1k": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def checked() -> Compiled:
    """The explorer, which stops at the first wrong index or overflow."""
    return compiled(checked=True)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_every_part_of_the_language(name: str, checked: Compiled) -> None:
    program = load_text(PROGRAMS[name]).program
    if name in NOT_COMPILED:
        with pytest.raises(NotCompiledError):
            assert_alike(program, checked)
        return
    assert_alike(program, checked)


@pytest.mark.parametrize("name", sorted(SIZES))
def test_models_of_up_to_four_sessions(name: str, checked: Compiled) -> None:
    for n in range(1, 5):
        sets = {k: str(v) for k, v in SIZES[name].items()} | ({"N": str(n)} if "N" in SIZES[name] else {})
        assert_alike(load(VALUES / f"{name}.sq", sets).program, checked)


def test_generated_queues_and_pools(checked: Compiled) -> None:
    """Most generated programs can be compiled; all that can give the same chain."""
    done = 0
    texts = [finite_program(seed).text for seed in range(60)] + [pooled_chains.program(seed) for seed in range(60)]
    for text in texts:
        program = load_text(text).program
        try:
            exploration = Exploration(program, ExploreOptions(states=3000))
            search(exploration, checked)
        except (NotCompiledError, LimitError):
            continue
        assert_alike(program, checked)
        done += 1
    assert done >= 45


def test_without_a_compiler_the_reference_explorer_is_used() -> None:
    program = load(VALUES / "lru_slot.sq", {"N": "3", "C": "2"}).program
    with pytest.raises(NotCompiledError, match="no compiler"):
        compiled_chain(Exploration(program, ExploreOptions()), compiled("cpython"))


def test_large_chains_are_found_by_the_compiled_explorer() -> None:
    chain = explore(load_text(QUEUE, overrides={"N": Fraction(5000)}).program)
    assert chain.size == 5001
    assert isinstance(chain.transitions, PackedTransitions)
    assert chain.explored == ""
    small = explore(load_text(QUEUE).program)
    assert isinstance(small.transitions, tuple)


def test_what_cannot_be_compiled_falls_back_and_says_so() -> None:
    text = """let N = 60; stage svc : fifo; stage think : delay; workload { arrive closed(N); }
    session { loop { branch (queue(svc) > 3) { run think (~exp(1)); } run svc (~exp(1)); run think (~exp(4)); } }"""
    chain = explore(load_text(text).program)
    assert chain.explored == "by the reference explorer, since a session looks at a stage"
    assert isinstance(chain.transitions, tuple)


@pytest.mark.parametrize("states", [7, 100])
def test_too_many_states(states: int) -> None:
    """What grows is named, whoever explores."""
    program = load_text(QUEUE, overrides={"N": Fraction(300)}).program
    for explorer in ("reference", "compiled"):
        with pytest.raises(LimitError, match=f"more than {states} states .* the queue of stage svc takes the most"):
            explore(program, ExploreOptions(states=states, explorer=explorer))


def test_what_grows_is_named_after_a_look_at_few_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the states are: all of these have two hundred million sessions."""
    program = load_text(QUEUE, overrides={"N": Fraction(100_003)}).program
    looked_at = []
    read = Reader.state

    def counted(self, number, most):
        state = read(self, number, most)
        looked_at.append(len(state))
        return state

    monkeypatch.setattr(Reader, "state", counted)
    with pytest.raises(LimitError, match=r"2000 were found\); the queue of stage svc takes the most values"):
        explore(program, ExploreOptions(states=2000))
    assert 0 < sum(looked_at) <= 50_000


COINS = """let N = 12; stage a : fifo; stage b : delay; workload { arrive closed(N); }
session { loop { branch (0.5) { run a (~exp(1)); observe x = 1; } else { run b (~exp(2)); } } }"""
"""Every session tosses a coin at time 0, which makes 2^N ways to begin, in N + 1 states."""


def test_many_ways_to_begin_are_left_to_the_compiled_explorer() -> None:
    chain = explore(load_text(COINS).program)
    assert not isinstance(chain.transitions, tuple)
    assert sorted(x for _, x in chain.initial) == sorted(Fraction(comb(12, k), 2**12) for k in range(13))
    alike = explore(load_text(COINS, overrides={"N": 5}).program, ExploreOptions(explorer="reference"))
    assert sorted(x for _, x in alike.initial) == sorted(Fraction(comb(5, k), 2**5) for k in range(6))


def test_too_many_ways_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serq.semantics.explore_fast._MOST_WAYS", 1 << 10)
    with pytest.raises(LimitError, match="sessions of time 0 begin in more than 1024 ways"):
        explore(load_text(COINS, overrides={"N": 40}).program)
    monkeypatch.setattr("serq.semantics.exploration._WAYS", 100)
    with pytest.raises(LimitError, match="sessions of time 0 begin in more than 100 ways"):
        explore(load_text(COINS).program, ExploreOptions(explorer="reference"))


def test_too_little_memory() -> None:
    program = load_text(QUEUE, overrides={"N": Fraction(20_000)}).program
    with pytest.raises(LimitError, match=r"does not fit into 1 MB: \d+ states were found"):
        explore(program, ExploreOptions(memory=1_000_000))


def test_a_population_that_grows() -> None:
    text = "stage svc : fifo; workload { arrive poisson(1); } session { run svc (~exp(1)); }"
    for explorer in ("reference", "compiled"):
        with pytest.raises(OutsideFragmentError, match="SQ"):
            explore(load_text(text).program, ExploreOptions(explorer=explorer, population=30))


def test_an_interrupt_loses_nothing() -> None:
    """After an interrupt the search goes on where it was."""
    program = load_text(QUEUE, overrides={"N": Fraction(60_000)}).program
    told: list[tuple[int, int]] = []

    def interrupt(found: int, done: int) -> None:
        told.append((found, done))
        if len(told) == 1:
            raise KeyboardInterrupt

    exploration = Exploration(program, ExploreOptions(explorer="compiled", progress=interrupt))
    with pytest.raises(KeyboardInterrupt):
        compiled_chain(exploration)
    found = exploration.searching
    assert found is not None
    assert 0 < found.x.done < 60_001
    assert compiled_chain(exploration).size == 60_001
    assert exploration.searching is found


def test_packed_parts_are_ordinary_sequences() -> None:
    program = load_text(QUEUE, overrides={"N": Fraction(40)}).program
    plain = explore(program, ExploreOptions(explorer="reference"))
    packed = explore(program, ExploreOptions(explorer="compiled"))
    assert packed.states[:3] == tuple(packed.states)[:3]
    assert packed.states[-1] == packed.states[40]
    assert packed.transitions[:2] == tuple(packed.transitions)[:2]
    assert sorted(packed.states) == sorted(plain.states)
    assert len(packed.lines) == 41
    assert 41 not in packed.lines
    with pytest.raises(KeyError):
        packed.lines[41]
    name = "stage.svc.number"
    assert sorted(packed.state_rewards[name]) == sorted(plain.state_rewards[name])
    assert sum(packed.reward_rates("stage.svc.throughput")) == 40
    assert packed.impulse_names() == plain.impulse_names()


def solved(program: Program, explorer: str) -> dict[str, object]:
    chain = explore(program, ExploreOptions(explorer=explorer))  # type: ignore[arg-type]
    return {e.measure: e.value for e in solve_chain(chain, program).estimates}


def test_rational_answers_are_the_same() -> None:
    program = load(VALUES / "lru.sq", {"N": "5", "C": "3"}).program
    assert solved(program, "compiled") == solved(program, "reference")


def test_quotients_that_are_not_taken_need_the_reference_explorer() -> None:
    program = load_text(QUEUE).program
    chain = explore(program, ExploreOptions(quotients=Quotients(symmetry=False), explorer="compiled"))
    assert chain.explored == "by the reference explorer, since not every quotient is taken"
