"""The quotients are exact: every row of the full chain adds up to the row of the lumped one, and so do the vectors.

Kemeny and Snell, Finite Markov Chains, theorem 6.3.2: a partition is lumpable when all states of a block have the same
total rate into every block. Here the impulses on the way are compared too.
"""

from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from chain_programs import PROGRAMS
from lumping import assert_every_row_adds_up, explored, lumped_texts

from serq.ir.program import Program
from serq.pipeline import load, load_text
from serq.semantics.records import Quotients
from serq.semantics.solve import stationary

FULL = Quotients(symmetry=False, dead_values=False, service_order=False, pinned_ranks=False)
VALUES = Path(__file__).parents[1] / "data" / "values" / "programs"
SHIPPED = {
    "mm1n": [{"N": 3}],
    "mmcn": [{"N": 4}],
    "ps": [{"N": 3}],
    "tandem": [{"N": 3}],
    "lru": [{"N": 3, "C": 2}],
    "lru_ps": [{"N": 3, "C": 2}],
    "lru_slot": [{"N": 3, "C": 2}],
    "lru_slot_pin": [{"N": 3, "C": 2}, {"N": 4, "C": 3}],
    "lru_slot_key": [{"N": 3, "C": 2}],
    "lru_sizes": [{"N": 3, "C": 2}],
    "amp": [{"N": 3, "C": 4}],
    "amp_ps": [{"N": 3, "C": 4}],
    "pool2": [{"N": 3}],
    "mgn": [{"N": 3}],
    "mm1k": [{}],
    "twoclass": [{"N": 3}],
}
CASES = [pytest.param(load_text(text).program, id=name) for name, text in PROGRAMS.items()]
CASES += [
    pytest.param(load(VALUES / f"{name}.sq", {k: str(v) for k, v in sets.items()}).program, id=f"{name} {sets}")
    for name, settings in SHIPPED.items()
    for sets in settings
]


@pytest.mark.parametrize("program", CASES)
def test_every_row_adds_up(program: Program) -> None:
    assert_every_row_adds_up(program, FULL)


SMALL_ENOUGH = 800
SOLVED = [
    "servers", "sharing", "phases", "loss", "replaced", "lru", "pinned", "growing", "preempted", "two pools", "serials",
]  # fmt: skip


@pytest.mark.parametrize("name", SOLVED)
def test_the_stationary_vectors_agree_as_fractions(name: str) -> None:
    program = load_text(PROGRAMS[name]).program
    small, full = explored(program, Quotients()), explored(program, FULL)
    assert len(full.states) <= SMALL_ENOUGH
    chain = small.chain()
    lumped = dict(zip(chain.states, stationary(chain, exact=True).probabilities, strict=True))
    added: dict[str, Fraction] = defaultdict(Fraction)
    for block, p in zip(lumped_texts(full), stationary(full.chain(), exact=True).probabilities, strict=True):
        added[block] += Fraction(p)
    assert dict(added) == lumped


@pytest.mark.parametrize("field", ["symmetry", "dead_values", "service_order", "pinned_ranks"])
def test_every_quotient_is_worth_something(field: str) -> None:
    """Each of them, switched off alone, costs states somewhere: otherwise it is not there."""
    name = {"symmetry": "lru", "dead_values": "classes", "service_order": "replaced", "pinned_ranks": "pinned"}[field]
    program = load_text(PROGRAMS[name]).program
    without = Quotients(**{field: False})
    assert len(explored(program, without).states) > len(explored(program, Quotients()).states)
    assert len(without.words()) == 3
