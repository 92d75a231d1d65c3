"""The tables that are made in advance are those of the grammar, and nothing depends on their being there."""

import pytest

from serq.base.source import SourceFile
from serq.models import shipped
from serq.syntax import tables
from serq.syntax.automaton import automaton, token_pattern
from serq.syntax.parser import parse


@pytest.fixture(autouse=True)
def read_anew():
    automaton.cache_clear()
    token_pattern.cache_clear()
    yield
    automaton.cache_clear()
    token_pattern.cache_clear()


@pytest.fixture
def made(monkeypatch):
    """How often Lark made tables of its own."""
    count = []
    make = tables._made
    monkeypatch.setattr(tables, "_made", lambda grammar: count.append(1) or make(grammar))
    return count


def test_the_tables_are_of_this_grammar():
    """`python -m serq.syntax.tables` mends it."""
    grammar = tables._GRAMMAR.read_bytes()
    assert tables._TABLES.read_bytes().split()[0] == tables._head(grammar).split()[0]


def test_programs_read_the_same_with_the_tables_and_without(monkeypatch, tmp_path, made):
    sources = [SourceFile(m.name, m.path.read_text("utf-8")) for m in shipped()]
    with_tables = [parse(source) for source in sources]
    pattern, places = token_pattern().pattern, sorted(automaton().places.values())
    monkeypatch.setattr(tables, "_TABLES", tmp_path / "none")
    automaton.cache_clear()
    token_pattern.cache_clear()
    before = len(made)
    assert [parse(source) for source in sources] == with_tables
    assert len(made) == before + 1
    assert (token_pattern().pattern, sorted(automaton().places.values())) == (pattern, places)


def test_tables_are_written_for_the_grammar_and_the_lark_at_hand(monkeypatch, tmp_path, made):
    monkeypatch.setattr(tables, "_TABLES", tmp_path / "grammar.tables")
    tables.write()
    tables.parser()
    assert len(made) == 1
    tables._TABLES.write_bytes(tables._TABLES.read_bytes().replace(b" lark ", b" lark 0."))
    tables.parser()
    assert len(made) == 2
