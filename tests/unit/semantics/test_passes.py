import pytest

from serq.ir import program as p
from serq.pipeline import load_text
from serq.semantics.graph import graph_of
from serq.semantics.passes import Passes

HEAD = "stage s : fifo; pool m { cap 4; } workload { arrive closed(2); } session { "


def passes(body: str, head: str = HEAD) -> tuple[p.Program, Passes]:
    program = load_text(head + body + " }").program
    graph = graph_of(program)
    observers = frozenset(i for i, n in enumerate(graph.nodes) if isinstance(n.step, p.Observe))
    return program, Passes(graph, "t", observers)


RUN = "run s (~exp(1));"


@pytest.mark.parametrize(
    ("body", "rests", "each"),
    [
        # of the places of rest, in order, those on the way; None: not every pass is observed once
        (f"loop {{ set t = now; {RUN} observe x = now - t; {RUN} }}", [0], True),
        (f"loop {{ set t = now; {RUN} {RUN} observe x = now - t; }}", [0, 1], True),
        (f"loop {{ set t = now; {RUN} observe x = now - t; observe x = now - t; {RUN} }}", None, False),
        (f"loop {{ set t = now; {RUN} branch (0.5) {{ observe x = now - t; }} }}", None, False),
        (f"loop {{ set t = now; branch (0.5) {{ {RUN} observe x = now - t; }} else {{ {RUN} }} }}", [0], False),
        (f"set t = now; loop {{ {RUN} observe x = now - t; }}", None, False),
        (f"set t = now; {RUN} observe x = now - t; {RUN} end;", [0], True),
        (f"set t = now; branch (0.5) {{ end; }} {RUN} observe x = now - t;", [0], False),
        (f"set t = now; {RUN} branch (0.5) {{ observe x = now - t; end; }} loop {{ {RUN} }}", None, False),
        (f"loop {{ set t = now; observe x = now - t; {RUN} }}", [], True),
        (f"loop {{ set t = now; hold m (1) {{ observe x = now - t; {RUN} }} }}", [0], True),
    ],
)
def test_regions(body: str, rests: list[int] | None, each: bool) -> None:
    program, found = passes(body)
    places = [pc for pc, step in enumerate(program.code) if isinstance(step, p.Run | p.Hold)]
    region = found.region()
    assert (None if region is None else sorted(places.index(pc) for pc in region)) == rests
    assert found.each_set_is_observed_once() == each


def test_a_preempted_session_observes_again() -> None:
    body = f"loop {{ set t = now; hold m (1) {{ observe x = now - t; {RUN} grow m (1); }} {RUN} }}"
    assert passes(body)[1].region() is not None
    assert passes(body, HEAD.replace("cap 4;", "cap 4; preempt lifo;"))[1].region() is None
