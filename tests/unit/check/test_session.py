"""The flat code of a session."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from serq.base.source import SourceFile
from serq.check.link import link
from serq.ir import program as p
from serq.ir.flow import successors
from serq.syntax.parser import parse

DEPLOYMENT = "stage s : fifo; stage d : delay; pool m { cap 4; } pool k { cap 8; } workload { arrive closed(1); }\n"


def shape(code: tuple[p.Instruction, ...]) -> str:
    """`Run Branch->4 ...`: the code in short."""
    words = []
    for instruction in code:
        target = {"Branch": "otherwise", "Jump": "target", "Hold": "release", "Release": "hold"}
        name = type(instruction).__name__
        words.append(f"{name}->{getattr(instruction, target[name])}" if name in target else name)
    return " ".join(words)


def flat(linked, session: str) -> str:
    return shape(linked(DEPLOYMENT + f"session {{ {session} }}").program.code)


def test_straight_code_ends_in_an_end(linked) -> None:
    assert flat(linked, "run s (1); observe x = now;") == "Run Observe End"
    assert flat(linked, "run s (1); end;") == "Run End"
    assert flat(linked, "") == "End"


def test_loop(linked) -> None:
    assert flat(linked, "set a = 1; loop { run s (a); }") == "Set Run Jump->1"
    assert flat(linked, "loop { run s (1); end; }") == "Run End"


def test_branch(linked) -> None:
    assert flat(linked, "branch (0.5) { run s (1); } run d (1);") == "Branch->2 Run Run End"
    assert flat(linked, "branch (0.5) { run s (1); } else { run d (1); }") == "Branch->3 Run Jump->4 Run End"
    assert flat(linked, "branch (0.5) { end; } else { run d (1); } run s (1);") == "Branch->2 End Run Run End"
    assert flat(linked, "branch (0.5) { run s (1); } else { end; } run s (1);") == "Branch->3 Run Jump->4 End Run End"
    assert flat(linked, "branch (0.5) { end; } else { loop { run s (1); } }") == "Branch->2 End Run Jump->2"
    assert flat(linked, "branch (0.5) { }") == "Branch->1 End"


def test_hold(linked) -> None:
    assert flat(linked, "hold m (1) { run s (1); hold k (1) { run d (1); } }") == (
        "Hold->5 Run Hold->4 Run Release->2 Release->0 End"
    )
    assert flat(linked, "hold m (1) { run s (1); end; }") == "Hold->3 Run End Release->0 End"


def test_spans_are_those_of_the_text(linked) -> None:
    program = linked(
        "stage s : fifo;\nworkload { arrive closed(1); }\nsession {\n  run s (2);\n  observe x = now;\n}\n"
    ).program
    run, observe, end = program.code
    assert (run.span.line, run.span.column) == (4, 3)
    assert isinstance(observe, p.Observe)
    assert (observe.expr.span.line, observe.expr.span.column) == (5, 15)
    assert (end.span.line, end.span.column, end.span.end_column) == (6, 1, 2)


LEAVES = st.sampled_from(["run s (1);", "run d (~exp(1));", "set a = 1;", "observe x = now;", "turn;"])
LAST = st.sampled_from(["end;", "loop { run s (1); }", ""])


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.builds(lambda xs, last: " ".join([*xs, last]), st.lists(inner, max_size=3), LAST)
    return st.one_of(
        st.builds("branch (0.5) {{ {} }} else {{ {} }}".format, body, st.lists(inner, max_size=2).map(" ".join)),
        st.builds("branch (0.5) {{ {} }}".format, body),
        st.builds("hold m (1) {{ {} }} cache (1);".format, st.lists(inner, max_size=3).map(" ".join)),
    )


STATEMENTS = st.lists(st.recursive(LEAVES, blocks, max_leaves=12), max_size=4)


@settings(max_examples=150, deadline=None)
@given(STATEMENTS, LAST)
def test_flat_code_is_well_formed(statements: list[str], last: str) -> None:
    text = DEPLOYMENT + "session { " + " ".join([*statements, last]) + " }"
    program = link(parse(SourceFile("x.sq", text))).program
    reached, todo = {0}, [0]
    while todo:
        pc = todo.pop()
        for following in successors(program, pc):
            assert 0 <= following < len(program.code)
            if following not in reached:
                reached.add(following)
                todo.append(following)
    open_holds: list[int] = []
    for pc, instruction in enumerate(program.code):
        if isinstance(instruction, p.Hold):
            open_holds.append(pc)
            release = program.code[instruction.release]
            assert isinstance(release, p.Release)
            assert release.hold == pc
        elif isinstance(instruction, p.Release):
            assert open_holds.pop() == instruction.hold
    assert open_holds == []
    written = re.findall(r"\b(run|set|observe|turn|hold)\b", text.split("session")[1])
    kept = [x for x in program.code if isinstance(x, p.Run | p.Set | p.Observe | p.Turn | p.Hold)]
    assert len(kept) == len(written)
    assert {pc for pc, x in enumerate(program.code) if not isinstance(x, p.Release)} <= reached
