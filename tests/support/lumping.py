"""Compare a chain with a finer one of the same program, row by row."""

from collections import defaultdict
from fractions import Fraction

from serq.ir.program import Program
from serq.semantics.canonical import Codec
from serq.semantics.control import control_of
from serq.semantics.describe import Describer
from serq.semantics.explore import Exploration, ExploreOptions
from serq.semantics.invariants import check_invariants
from serq.semantics.machine import Machine
from serq.semantics.records import Quotients

Row = dict[tuple[object, ...], Fraction]


def explored(program: Program, quotients: Quotients) -> Exploration:
    """A finished search."""
    exploration = Exploration(program, ExploreOptions(states=20_000, quotients=quotients))
    exploration.run()
    return exploration


def lumped_texts(fine: Exploration) -> list[str]:
    """Per state of a finer chain, the text of the lumped state that it belongs to."""
    control = control_of(fine.program)
    fresh = Machine(control.sliced, fine.events._world).fresh
    lumping = Codec(control, fine.events.laws, Quotients(), fresh)
    blocks = []
    for state in fine.states:
        configuration, _, phases = fine.events.codec.decode(state)
        check_invariants(fine.program, configuration)
        blocks.append(lumping.encode(configuration, phases))
    describer = Describer(fine.program, lumping, fine.events.laws)
    return [describer.state(block) for block in blocks]


def rows(exploration: Exploration, names: list[str]) -> list[Row]:
    """Per state the rates by target, rate symbol and impulses."""
    symbols = exploration.events.laws.symbols
    out: list[Row] = [defaultdict(Fraction) for _ in exploration.states]
    for t in exploration.transitions:
        out[t.source][names[t.target], symbols[t.symbol], t.impulses] += t.coefficient
    return out


def assert_every_row_adds_up(program: Program, finer: Quotients) -> None:
    """Every state of the finer chain has, into every lumped state, the rates that its own lumped state has."""
    small, fine = explored(program, Quotients()), explored(program, finer)
    names = list(small.chain().states)
    assert len(set(names)) == len(names)
    expected = dict(zip(names, rows(small, names), strict=True))
    blocks = lumped_texts(fine)
    assert set(blocks) == set(names)
    for block, row in zip(blocks, rows(fine, blocks), strict=True):
        assert row == expected[block], f"from {block}: {dict(row)}, not {dict(expected[block])}"
