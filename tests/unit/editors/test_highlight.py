"""The colours of programs, and the lists of words that they are made of."""

import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest
from pages import blocks
from pygments.token import Comment, Keyword, Name, String, Text

from serq.check import resolve, scopes
from serq.editors import textmate, vim, words
from serq.editors.highlight import SerqLexer
from serq.models import shipped
from serq.syntax.automaton import automaton

ROOT = Path(__file__).parents[3]


def test_every_keyword_of_the_grammar_is_listed() -> None:
    known = {word for word in automaton().terminals if word.isalpha()} - {"inf", "choice"}
    assert set(words.KEYWORDS) == known
    groups = (words.ITEMS, words.STATEMENTS, words.CLAUSES, words.OPTIONS, words.KINDS)
    assert sum(len(group) for group in groups) == len(words.KEYWORDS), "a word is in one list only"


def test_every_name_of_the_linker_is_listed() -> None:
    assert set(words.FUNCTIONS) == set(resolve.FUNCTIONS)
    assert set(words.OBSERVABLES) == {*resolve.STAGE_FACTS, *resolve.POOL_FACTS, "price"}
    assert set(words.DRAWS) == set(resolve.LAWS)
    assert set(words.ATTRIBUTES) == {*scopes.BUILTINS, "inf"}
    assert set(words.CONTEXT) == set(scopes.CONTEXT_NAMES)


@pytest.mark.parametrize("model", shipped(), ids=lambda m: m.name)
def test_shipped_programs_are_read_to_the_last_character(model) -> None:
    text = model.path.read_text("utf-8")
    tokens = list(SerqLexer(stripnl=False).get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    assert [value for kind, value in tokens if kind in Text and kind is Text] == []


def kinds(text: str) -> dict[str, object]:
    return {value: kind for kind, value in SerqLexer().get_tokens(text) if value.strip()}


def test_words_by_their_role() -> None:
    found = kinds('let N = 8; // users\nstage gpu : fifo; trace "a.csv"; run gpu (~exp(min(N, now))); set t0 = x;')
    assert found["let"] is Keyword.Declaration
    assert found["N"] in (Name.Constant, Name)
    assert found["gpu"] is Name.Class
    assert found["fifo"] is Keyword.Type
    assert found["exp"] is Name.Function
    assert found["min"] is Name.Builtin
    assert found["now"] is Name.Builtin.Pseudo
    assert found["t0"] is Name.Variable
    assert found["// users"] is Comment.Single
    assert found['"a.csv"'] is String


def test_a_name_may_be_a_keyword() -> None:
    assert kinds("stage prefill : fifo;")["prefill"] is Name.Class


def test_pygments_finds_the_lexer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["serq"].partition(":")
    assert getattr(importlib.import_module(module), name) is SerqLexer


def test_the_grammar_for_textmate_has_patterns_that_compile() -> None:
    files = textmate.files()
    grammar = json.loads(files["syntaxes/serq.tmLanguage.json"])
    package = json.loads(files["package.json"])
    assert package["contributes"]["grammars"][0]["scopeName"] == grammar["scopeName"]
    assert {path.removeprefix("./") for path in re.findall(r'"(\./[^"]+)"', files["package.json"])} <= set(files)
    text = (ROOT / "models" / "textbook" / "mm1n.sq").read_text("utf-8")
    for pattern in grammar["patterns"]:
        assert re.compile(pattern["match"])
    assert any(re.search(p["match"], text) for p in grammar["patterns"] if p.get("name") == "storage.type.serq")


def test_the_syntax_for_vim_has_every_word() -> None:
    text = vim.files()["syntax/serq.vim"]
    listed = {word for line in text.splitlines() if line.startswith("syntax keyword") for word in line.split()[3:]}
    assert listed == {*words.KEYWORDS, *words.FUNCTIONS, *words.OBSERVABLES, *words.ATTRIBUTES}


def test_programs_of_the_pages_have_no_unknown_characters() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        if page.parent.name != "errors":
            for block in blocks(page.read_text("utf-8")):
                if block.kind == "serq":
                    assert not [v for kind, v in SerqLexer().get_tokens(block.text) if kind is Text], page
