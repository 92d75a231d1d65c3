import pytest

from serq.ir import program as p
from serq.pipeline import load_text
from serq.semantics.graph import graph_of
from serq.semantics.kinds import Kinds, Shape

HEAD = "let c = 2; let none = 0; stage s : fifo; pool m { cap 4; } workload { arrive closed(2); } session { loop { "


def kinds_of(body: str, before: str = "") -> tuple[p.Program, Kinds]:
    text = HEAD.replace("session { loop", f"session {{ {before} loop")
    program = load_text(text + body + " run s (~exp(1)); } }").program
    return program, Kinds(program, graph_of(program))


def shapes(body: str, before: str = "") -> set[str]:
    """The shapes of what `observe it = ...` sees."""
    _, kinds = kinds_of(body, before)
    for place, node in enumerate(kinds.graph.nodes):
        if isinstance(node.step, p.Observe) and node.step.name == "it":
            return {shape.value for shape in kinds.at(place, node.step.expr).shapes}
    raise AssertionError("nothing is observed")


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("0", {"zero"}),
        ("none", {"zero"}),
        ("c", {"number"}),
        ("queue(s)", {"number"}),
        ("~bernoulli(0.5)", {"number"}),
        ("~choice(0: 1, 1: 1)", {"number"}),
        ("~det(0)", {"zero"}),
        ("~det(2)", {"number"}),
        ("~exp(1)", {"phase"}),
        ("2 * ~exp(1)", {"phase"}),
        ("~exp(1) * queue(s)", {"phase"}),
        ("~exp(1) / c", {"phase"}),
        ("0 * ~exp(1)", {"zero"}),
        ("0 + ~exp(1)", {"phase"}),
        ("~exp(1) - 0", {"phase"}),
        ("-~exp(1)", {"sum"}),
        ("1 + ~exp(1)", {"sum"}),
        ("~exp(1) + ~exp(1)", {"sum"}),
        ("~uniform(0, 1)", {"sum"}),
        ("~geometric(0.5)", {"sum"}),
        ("~exp(~exp(1))", {"opaque"}),
        ("~exp(1) * ~exp(1)", {"opaque"}),
        ("1 / ~exp(1)", {"opaque"}),
        ("min(~exp(1), 1)", {"opaque"}),
        ("~exp(1) > 1", {"opaque"}),
        ("now", {"clock"}),
        ("now - 1", {"span"}),
        ("-now", {"span"}),
        ("now - ~exp(1)", {"span"}),
        ("2 * now / c", {"span"}),
        ("queue(s) * now", {"opaque"}),
        ("now * ~exp(1)", {"opaque"}),
        ("now > 1", {"opaque"}),
        ("floor(now)", {"opaque"}),
        ("now > 1 ? 1 : 2", {"opaque"}),
        ("queue(s) ? 1 : 0", {"number", "zero"}),
        ("queue(s) ? ~exp(1) : 0", {"phase", "zero"}),
        ("queue(s) ? ~exp(1) : now", {"phase", "clock"}),
        ("work(s)", {"opaque"}),
        ("est_rho(s)", {"opaque"}),
        ("price(s, 1, 2)", {"opaque"}),
    ],
)
def test_expressions(expr: str, expected: set[str]) -> None:
    assert shapes(f"observe it = {expr};") == expected


def test_attributes_join_over_paths() -> None:
    assert shapes("branch (0.5) { set x = 1; } else { set x = ~exp(1); } observe it = x;") == {"number", "phase"}


def test_attributes_are_followed_through_sets() -> None:
    assert shapes("set t = now; set r = now - t; set q = 2 * r; observe it = q;") == {"span"}


def test_a_later_set_replaces() -> None:
    assert shapes("set x = now; set x = 1; observe it = x;") == {"number"}


def test_what_comes_round_a_loop_counts() -> None:
    assert shapes("observe it = x; set x = now;", "set x = 0;") == {"zero", "clock"}


def test_sources_name_the_place() -> None:
    program, kinds = kinds_of("set x = ~exp(1); set y = now; observe it = x * y;")
    node = next(i for i, n in enumerate(kinds.graph.nodes) if isinstance(n.step, p.Observe))
    kind = kinds.at(node, program.code[2].expr)
    assert {(s.reason, s.text) for s in kind.sources} == {("draw", "~exp"), ("time", "now")}
    assert kind.shapes == {Shape.OPAQUE}


def test_copies_of_a_turn_block_are_told_apart_by_nothing() -> None:
    text = """stage s : fifo; workload { arrive closed(1); turn { observe it = x; } }
    session { set x = 1; turn; set x = now; turn; run s (~exp(1)); }"""
    program = load_text(text).program
    kinds = Kinds(program, graph_of(program))
    places = [i for i, n in enumerate(kinds.graph.nodes) if isinstance(n.step, p.Observe)]
    assert len(places) == 2
    assert {kinds.at(i, program.turn[0].expr).shapes for i in places} == {frozenset({Shape.NUMBER, Shape.CLOCK})}
