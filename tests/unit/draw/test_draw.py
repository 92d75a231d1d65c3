"""Pictures of programs: what they show, that nothing lies on anything, and three of them to the letter."""

import os
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from command_line import serq
from running import program_of

from serq.base.errors import UsageError
from serq.draw.flow import picture_of
from serq.draw.formats import FORMATS, draw
from serq.draw.layout import Placed, place
from serq.draw.picture import Edge, Picture
from serq.draw.svg import _size
from serq.draw.words import WIDEST
from serq.ir import program as p
from serq.ir.flow import successors
from serq.models import find, shipped
from serq.pipeline import load

HEAD = "let q = 0.25; pool kv { cap 4; } stage s : fifo; stage think : delay; workload { arrive closed(2); } "
ENDINGS = {"svg": "svg", "dot": "dot", "mermaid": "mmd"}


def shown(session: str, head: str = HEAD) -> Picture:
    return picture_of(program_of(head + session))


def edges(picture: Picture) -> list[tuple[str, str, str]]:
    names = [(node.lines or (node.kind,))[0] for node in picture.nodes]
    return [(names[e.source], names[e.target], e.label) for e in picture.edges]


# -- what is shown ---------------------------------------------------------------------------------------------------


def test_a_branch_with_a_probability_has_both() -> None:
    picture = shown("session { loop { branch (q) { run s (~exp(1)); } else { observe x = 1; run think (~exp(2)); } } }")
    assert edges(picture) == [
        ("session", "branch", ""),
        ("branch", "s", "q = 0.25"),
        ("s", "branch", ""),
        ("branch", "think", "0.75, observe x"),
        ("think", "branch", ""),
    ]
    assert [e.back for e in picture.edges] == [False, False, True, False, True]


def test_a_question_has_yes_and_no_and_an_attribute_has_neither() -> None:
    picture = shown(
        "session { set a = 1; branch (used(kv) < 2) { branch (a) { run s (~exp(1)); } } observe x = 1; end; }"
    )
    assert ("used(kv) < 2", "a", "yes") in edges(picture)
    assert ("used(kv) < 2", "end", "no, observe x") in edges(picture)
    assert ("a", "s", "then") in edges(picture)


def test_holds_releases_and_what_they_say() -> None:
    picture = shown("session { hold kv (2) reuse (1) { run s (~exp(1)); grow kv (1); } cache (3); drop kv; end; }")
    lines = [node.lines for node in picture.nodes]
    assert lines[1] == ("hold kv (2)", "reuse (1)")
    assert ("release kv", "cache (3)") in lines
    assert ("grow kv (1)",) in lines
    assert ("drop kv",) in lines
    assert picture.nodes[1].resource == "kv"


def test_the_deployment() -> None:
    picture = picture_of(load(find("routing").path).program)
    titles = {card.title: card.lines for card in picture.cards}
    assert titles["replica[0..3]"] == ("fifo, one server",)
    assert titles["kv[0..3]"] == ("cap cap = 24",)
    assert titles["workload"] == ("poisson (lam / turns = 0.4)",)


def test_long_expressions_are_cut() -> None:
    picture = picture_of(load(find("vllm").path).program)
    assert max(len(line) for card in picture.cards for line in card.lines) == WIDEST


@pytest.mark.parametrize("model", shipped(), ids=lambda m: m.name)
def test_every_instruction_that_can_be_reached_is_there(model) -> None:
    program = load(model.path).program
    picture = picture_of(program)
    reached = {0}
    for _ in program.code:
        reached |= {after for pc in reached for after in successors(program, pc)}
    kinds = Counter(node.kind for node in picture.nodes)
    for kind, instruction in (("run", p.Run), ("hold", p.Hold), ("release", p.Release), ("branch", p.Branch)):
        assert kinds[kind] == sum(isinstance(program.code[pc], instruction) for pc in reached), kind
    ways = Counter(edge.source for edge in picture.edges)
    for i, node in enumerate(picture.nodes):
        assert ways[i] == {"branch": 2, "end": 0}.get(node.kind, 1)


# -- where it is -----------------------------------------------------------------------------------------------------


def layout(picture: Picture) -> tuple[Placed, list[tuple[float, float]]]:
    sizes = [_size(node) for node in picture.nodes]
    return place(sizes, [(e.source, e.target, e.back) for e in picture.edges]), sizes


@pytest.mark.parametrize("model", shipped(), ids=lambda m: m.name)
def test_no_node_lies_on_another_and_edges_go_down(model) -> None:
    picture = picture_of(load(model.path).program)
    placed, sizes = layout(picture)
    boxes = list(zip(placed.centres, sizes, strict=True))
    for ((x0, y0), (w0, h0)), ((x1, y1), (w1, h1)) in combinations(boxes, 2):
        assert abs(x0 - x1) >= (w0 + w1) / 2 or abs(y0 - y1) >= (h0 + h1) / 2
    for edge, route in zip(picture.edges, placed.routes, strict=True):
        assert (route[0][1] < route[-1][1]) != edge.back or edge.source == edge.target
    assert all(x - w / 2 >= -1e-9 and x + w / 2 <= placed.width for (x, _), (w, _) in boxes)


def test_two_edges_between_the_same_nodes_are_apart() -> None:
    picture = shown("session { loop { branch (q) { observe x = 1; } run s (~exp(1)); } }")
    placed, _ = layout(picture)
    first, second = (
        r for e, r in zip(picture.edges, placed.routes, strict=True) if picture.nodes[e.source].kind == "branch"
    )
    assert first != second


def test_a_layer_is_spread_around_the_middle() -> None:
    placed = place([(10, 10)] * 4, [(0, 1, False), (0, 2, False), (0, 3, False)])
    (top, *below) = [x for x, _ in placed.centres]
    assert sorted(below)[1] == pytest.approx(top)


def test_a_loop_of_one_node() -> None:
    picture = shown("session { loop { run s (~exp(1)); } }")
    assert Edge(1, 1, "", True) in picture.edges
    assert "NaN" not in draw(program_of(HEAD + "session { loop { run s (~exp(1)); } }"))


# -- texts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", shipped(), ids=lambda m: m.name)
def test_svg_is_well_formed_and_has_every_line(model) -> None:
    program = load(model.path).program
    root = ET.fromstring(draw(program, "svg"))
    texts = Counter(e.text for e in root.iter("{http://www.w3.org/2000/svg}text"))
    picture = picture_of(program)
    wanted = [line for node in picture.nodes if node.kind not in ("start", "end") for line in node.lines]
    wanted += [edge.label for edge in picture.edges if edge.label]
    assert not Counter(wanted) - texts


@pytest.mark.parametrize("name", ["mm1n", "agentic", "vllm"])
@pytest.mark.parametrize("form", FORMATS)
def test_pictures_to_the_letter(name: str, form: str) -> None:
    golden = Path(__file__).parent / f"{name}.{ENDINGS[form]}"
    text = draw(load(find(name).path).program, form)
    if os.environ.get("SERQ_UPDATE_GOLDENS"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


def test_texts_that_mean_something_in_a_format() -> None:
    program = program_of(HEAD + "session { set a = 1; branch (a < 2 && a > 0) { run s (~exp(1)); } end; }")
    assert "a &lt; 2 &amp;&amp; a &gt; 0" in draw(program, "svg")
    assert '{"a &lt; 2 &amp;&amp; a &gt; 0"}' in draw(program, "mermaid")
    assert 'label="a < 2 && a > 0"' in draw(program, "dot")


def test_an_unknown_format() -> None:
    with pytest.raises(UsageError, match="svg, dot, mermaid"):
        draw(program_of(HEAD + "session { end; }"), "png")


def test_the_verb_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = serq(capsys, "draw", "mm1n", "--out", tmp_path / "a.svg")
    assert (done.status, done.out) == (0, "")
    assert (tmp_path / "a.svg").read_text("utf-8") == draw(load(find("mm1n").path).program)
