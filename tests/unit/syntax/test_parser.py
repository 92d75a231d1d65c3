import re
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import KEYWORDS, names

from serq.base.errors import LoadError
from serq.base.source import SourceFile, Span
from serq.syntax import ast
from serq.syntax.automaton import automaton
from serq.syntax.parser import parse, parse_expression


def items(text):
    return parse(SourceFile("p.sq", text)).items


def statements(text):
    (session,) = items(f"session {{ {text} }}")
    return session.body.statements


def expr(text):
    return parse_expression(SourceFile("e", text))


def codes(text):
    with pytest.raises(LoadError) as caught:
        parse(SourceFile("p.sq", text))
    return [(d.code, d.span.line, d.span.column) for d in caught.value.diagnostics]


ONE, TWO, THREE, FOUR = (ast.Number(Fraction(n), str(n)) for n in (1, 2, 3, 4))


def test_an_empty_program_and_one_of_comments():
    assert items("") == items(" \n\t\r\n") == items("// nothing\n// at all") == ()


def test_line_ends_may_be_of_two_characters():
    module = parse(SourceFile("p.sq", "let a = 1; // one\r\n// two\r\nlet b = 2;\r\n"))
    assert [c.text for c in module.comments] == ["// one", "// two"]
    assert [c.alone for c in module.comments] == [False, True]
    assert module.items[1].span == Span(3, 1, 3, 11)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.8", "4/5"), ("1e-3", "1/1000"), (".5", "1/2"), ("1.", "1"), ("2E+3", "2000"), ("1_000", "1000"), ("007", "7")],
)
def test_numbers_are_exact_and_keep_their_text(text, value):
    assert expr(text) == ast.Number(Fraction(value), text)


def test_infinity_is_a_number_without_a_value():
    assert expr("inf") == ast.Number(None, "inf")
    assert expr("infinite") == ast.Name("infinite")


BINARY = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]


@pytest.mark.parametrize("looser", range(6))
def test_operators_bind_as_the_reference_says(looser):
    for low in BINARY[looser]:
        assert expr(f"1 {low} 2 ? 3 : 4") == ast.Ternary(ast.Binary(low, ONE, TWO), THREE, FOUR)
        assert expr(f"-1 {low} !2") == ast.Binary(low, ast.Unary("-", ONE), ast.Unary("!", TWO))
        for high in (op for level in BINARY[looser + 1 :] for op in level):
            assert expr(f"1 {low} 2 {high} 3") == ast.Binary(low, ONE, ast.Binary(high, TWO, THREE))
            assert expr(f"1 {high} 2 {low} 3") == ast.Binary(low, ast.Binary(high, ONE, TWO), THREE)
            assert expr(f"(1 {low} 2) {high} 3") == ast.Binary(high, ast.Binary(low, ONE, TWO), THREE)


@pytest.mark.parametrize("level", [0, 1, 4, 5])
def test_operators_of_one_level_group_to_the_left(level):
    for first in BINARY[level]:
        for second in BINARY[level]:
            grouped = ast.Binary(second, ast.Binary(first, ONE, TWO), THREE)
            assert expr(f"1 {first} 2 {second} 3") == grouped


@pytest.mark.parametrize("level", [2, 3])
def test_comparisons_do_not_chain(level):
    for first in BINARY[level]:
        for second in BINARY[level]:
            with pytest.raises(LoadError) as caught:
                expr(f"1 {first} 2 {second} 3")
            assert [d.code for d in caught.value.diagnostics] == ["SQ043"]


def test_the_conditional_groups_to_the_right():
    assert expr("1 ? 2 : 3 ? 4 : 1") == ast.Ternary(ONE, TWO, ast.Ternary(THREE, FOUR, ONE))
    assert expr("1 ? 2 ? 3 : 4 : 1") == ast.Ternary(ONE, ast.Ternary(TWO, THREE, FOUR), ONE)


def test_calls_draws_and_members():
    assert expr("f()") == ast.Call("f", ())
    assert expr("queue(r[1], 2)") == ast.Call("queue", (ast.Member("r", ONE), TWO))
    assert expr("~ exp(1)") == ast.Draw("exp", (ONE,))
    assert expr("~choice(1: 2, 3 ? 1 : 2 : 4)") == ast.Draw("choice", (ONE, TWO, ast.Ternary(THREE, ONE, TWO), FOUR))


def test_spans_of_an_expression_include_its_parentheses():
    tree = expr("(1 + 2) * f(3)")
    assert tree.span == Span(1, 1, 1, 15)
    assert tree.left.span == Span(1, 1, 1, 8)
    assert tree.left.right.span == Span(1, 6, 1, 7)
    assert (tree.right.span, tree.right.name_span) == (Span(1, 11, 1, 15), Span(1, 11, 1, 12))


def test_a_semicolon_may_follow_a_step_stage_and_a_hold_without_cache():
    assert items("stage e : step { };") == items("stage e : step { }")
    assert statements("hold m (1) { };") == statements("hold m (1) { }")
    assert statements("hold m (1) { } cache (2);")[0].cache == TWO
    assert codes("session { hold m (1) { } cache (2) }") == [("SQ030", 1, 35)]
    assert codes("pool m { };") == [("SQ047", 1, 11)]


def test_branch_with_is_branch():
    assert statements("branch with (1) { end; }") == statements("branch (1) { end; }")


def test_a_step_stage_and_its_options():
    (stage,) = items("stage e[2] : step { budget 1; cost 2; chunk 3; exclusive prefill; decode first; memory kv; }")
    assert (stage.name, stage.size, stage.kind, stage.argument) == ("e", TWO, "step", None)
    assert [(o.name, o.value, o.word) for o in stage.options] == [
        ("budget", ONE, None),
        ("cost", TWO, None),
        ("chunk", THREE, None),
        ("exclusive", None, "prefill"),
        ("decode", None, "first"),
        ("memory", None, "kv"),
    ]


def test_a_hold_of_several_pools():
    (hold,) = statements("hold a (1) reserve (2), b[3] (4) reuse (1) { turn; } cache (2);")
    assert hold == ast.Hold(
        (ast.HoldPart(ast.Reference("a"), ONE, TWO), ast.HoldPart(ast.Reference("b", THREE), FOUR)),
        ONE,
        ast.Block((ast.Turn(),)),
        TWO,
    )


TEMPLATES = [
    "let W = 1;",
    "let x = W + 1;",
    "stage W : fifo;",
    "pool W { admit via W; spill W via W (1) when (1); }",
    "gauge W = 1;",
    "stage s : step { memory W; }",
    "session { set W = 1; observe W = 1; choose W in 1 by (1); }",
    "session { hold W (1) { grow W (1); drop W; } }",
    "session { run W (1); run W prefill (1) growing W; run W decode (1); }",
    "session { run W[1] (1); hold W[1] (1) { } }",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_keyword_may_be_a_name(template):
    """Wherever a NAME is expected; in an expression `inf` alone keeps its own meaning."""
    plain = items(template)
    for word in KEYWORDS:
        assert items(template.replace("W", word)) == rename(plain, word)


def rename(node, word):
    """The tree with every name W replaced: what the template with another word must give."""
    if isinstance(node, tuple):
        return tuple(rename(part, word) for part in node)
    if isinstance(node, ast.Name) and word == "inf":
        return ast.Number(None, "inf")
    if isinstance(node, str):
        return word if node == "W" else node
    if not hasattr(node, "__dataclass_fields__"):
        return node
    return type(node)(**{name: rename(getattr(node, name), word) for name in node.__dataclass_fields__})


def test_every_keyword_may_be_a_name_in_an_expression():
    """Except `inf`, and `choice` where something is called or drawn."""
    for word in set(KEYWORDS) - {"inf", "choice"}:
        name = ast.Name(word)
        call = ast.Call(word, (name, ast.Member(word, name)))
        assert expr(f"{word} + {word}({word}, {word}[{word}])") == ast.Binary("+", name, call)
        assert expr(f"~{word}({word})") == ast.Draw(word, (name,))
    assert expr("choice") == ast.Name("choice")


@given(names, names, names)
def test_names_side_by_side_are_told_apart_by_their_places(stage, pool, attribute):
    (run, choose) = statements(f"run {stage} prefill (1) growing {pool}; choose {attribute} in 2 by (1);")
    assert (run.stage.name, run.phase, run.growing.name, choose.name) == (stage, "prefill", pool, attribute)


def test_several_faults_are_reported_in_the_order_of_the_text():
    text = "let a = ;\nsession {\n  run svc 1;\n  set b == 2\n  branch (1) { set c = 1 +; }\n}\npool p { capp 1; }\n"
    assert codes(text) == [
        ("SQ044", 1, 9),
        ("SQ039", 3, 11),
        ("SQ038", 4, 9),
        ("SQ030", 4, 13),
        ("SQ044", 5, 27),
        ("SQ033", 7, 10),
    ]


def test_faults_inside_of_a_block_are_found_although_its_header_is_broken():
    text = (
        "session {\n  hold m 1 {\n    set = 1;\n  } cache (1);\n  branch x {\n    end\n  } else {\n    bad;\n  }\n}\n"
    )
    assert codes(text) == [("SQ039", 2, 10), ("SQ046", 3, 9), ("SQ039", 5, 10), ("SQ030", 6, 8), ("SQ032", 8, 5)]


def test_a_fault_does_not_bring_others_with_it():
    assert codes("session { branch p { end; } else { end; } }") == [("SQ039", 1, 18)]
    assert codes("session { run svc (~exp(1; set a = 1; }") == [("SQ020", 1, 19), ("SQ020", 1, 24)]
    assert codes("let a = 2 ^ 3;") == [("SQ010", 1, 11)]
    assert codes("session { pool p { cap 1; } }") == [("SQ036", 1, 11)]
    assert codes("session { end; } } set a = 1;") == [("SQ021", 1, 18)]


def test_a_statement_that_breaks_off_does_not_swallow_the_next_line():
    assert codes("session {\n  run svc\n  set = 1;\n}") == [("SQ039", 3, 3), ("SQ046", 3, 7)]


def test_text_after_a_single_expression():
    with pytest.raises(LoadError) as caught:
        expr("1; 2")
    assert [(d.code, d.span.column) for d in caught.value.diagnostics] == [("SQ049", 2)]


@pytest.mark.parametrize("text", ["", "1 +", ")", "1 2", "let a = 1;", "a = 1", "~", "f(", "x[1]", "1 < 2 < 3"])
def test_what_is_no_single_expression_is_refused(text):
    with pytest.raises(LoadError):
        expr(text)


def refusal(read, text):
    """The faults of a text; none when it is read."""
    try:
        read(SourceFile("any", text))
    except LoadError as error:
        return error.diagnostics
    return ()


def check_refusal(read, text):
    lines = text.split("\n")
    for fault in refusal(read, text):
        assert fault.message
        assert 1 <= fault.span.line <= len(lines)
        assert 1 <= fault.span.column <= len(lines[fault.span.line - 1]) + 1


@given(st.text(max_size=30) | st.text('ab1.+-*<>=!&|?:~()[]{};," \n', max_size=30))
def test_any_text_is_read_or_refused(text):
    check_refusal(parse, text)
    check_refusal(parse_expression, text)


PROGRAM = """let N = 8;
pool kv[2] { cap N * 16; evict by (size, age); spill far via link (size) when (age > 1); }
stage engine : step { budget max(1, ndec); cost 0.1; exclusive prefill; memory kv; }
workload { arrive poisson(0.5) limit(5); init { set K = 0; } trace "a.csv" ordered; }
session {
  loop {
    hold kv[0] (1) reserve (2), kv[1] (2) reuse (K) {
      run engine prefill (~choice(1: 0.5, 2: 0.5)) growing kv;
    } cache (K + 1);
    branch with (K == 2 && !cached) { choose r in 2 by (free(kv[r])); } else { end; }
  }
}
run { horizon 10; seed 1; }
"""
PIECES = re.findall(r"\s+|\w+|[^\w\s]", PROGRAM)


@given(st.data())
def test_a_mutilated_program_is_read_or_refused(data):
    pieces = list(PIECES)
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(pieces) - 1))
        pieces[at : at + data.draw(st.integers(0, 3))] = data.draw(st.lists(st.sampled_from(PIECES), max_size=2))
        pieces = pieces or [" "]
    check_refusal(parse, "".join(pieces))


def test_a_program_without_one_of_its_pieces():
    for at in range(len(PIECES)):
        check_refusal(parse, "".join(PIECES[:at] + PIECES[at + 1 :]))


def test_lark_is_not_loaded_before_a_program_is_read():
    code = "import sys, serq; sys.exit(any(name.split('.')[0] == 'lark' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_each_repetition_of_the_grammar_is_a_place_to_go_on():
    assert set(automaton().places.values()) == {"item", "statement", "pool", "step", "workload", "run"}
    assert automaton().starters("run") == {"horizon", "warmup", "seed"}
