from textwrap import dedent

import pytest

from serq.base.source import SourceFile
from serq.syntax.parser import parse
from serq.syntax.printer import WIDTH, format_module


def formatted(text):
    return format_module(parse(SourceFile("p.sq", dedent(text))))


def session(body):
    """The lines of a session's body, formatted and moved to the left margin."""
    lines = formatted("session {\n" + dedent(body) + "\n}").splitlines()
    assert (lines[0], lines[-1]) == ("session {", "}")
    return [line.removeprefix("  ") for line in lines[1:-1]]


def test_statements_stand_each_on_a_line_two_spaces_deeper_in_a_block():
    text = "let N=8;let mu = 1.0;\nsession{loop{run svc(~exp(1/mu));hold kv(1){turn;}cache(2);branch with(N>2){end;}}}"
    assert formatted(text) == dedent("""\
        let N = 8;
        let mu = 1.0;
        session {
          loop {
            run svc (~exp(1 / mu));
            hold kv (1) {
              turn;
            } cache (2);
            branch (N > 2) { end; }
          }
        }
        """)


def test_short_items_keep_to_one_line():
    text = (
        "pool kv\n{\n  cap 3;\n  evict by (size,age);\n}\nstage e : step { budget 1; cost 2; };\nrun { horizon 1; }\n"
    )
    assert formatted(text).splitlines() == [
        "pool kv { cap 3; evict by (size, age); }",
        "stage e : step { budget 1; cost 2; }",
        "run { horizon 1; }",
    ]


def test_what_is_longer_than_the_width_is_broken():
    option = f"cap {'x' * (WIDTH - len('pool kv { cap ; } '))};"
    assert formatted(f"pool kv {{ {option} }}").splitlines() == [f"pool kv {{ {option} }}"]
    option = option.replace("cap ", "cap y")
    assert formatted(f"pool kv {{ {option} }}").splitlines() == ["pool kv {", f"  {option}", "}"]


def test_branches_with_single_statements_keep_to_one_line():
    assert session("branch (p) {\n end;\n}\nelse\n{ run s (1);\n}") == ["branch (p) { end; } else { run s (1); }"]
    assert session("branch (p) { } else { turn; end; }") == ["branch (p) {", "} else {", "  turn;", "  end;", "}"]
    assert session("branch (p) { loop { } }") == ["branch (p) {", "  loop {", "  }", "}"]


def test_a_long_hold_is_broken_at_its_parts():
    long = "x" * 40
    assert session(f"hold reqs (1), kv[2] ({long}) reserve ({long}) reuse (h) {{ }} cache (1);") == [
        "hold reqs (1),",
        f"     kv[2] ({long})",
        f"       reserve ({long})",
        "     reuse (h) {",
        "} cache (1);",
    ]


def test_what_is_still_too_wide_in_a_hold_is_broken_after_commas_and_before_operators():
    long = "x" * 40
    assert session(f"hold kv (min({long}, max({long}, a) + b * ({long} + c))) reuse (h) {{ }}") == [
        f"hold kv (min({long},",
        f"             max({long}, a)",
        f"             + b * ({long} + c)))",
        "     reuse (h) {",
        "}",
    ]


def test_blocks_of_the_workload():
    text = "workload { arrive closed(3); init { set a = 1; } turn { set b = 1; set c = 2; } }"
    assert formatted(text).splitlines() == [
        "workload {",
        "  arrive closed(3);",
        "  init { set a = 1; }",
        "  turn {",
        "    set b = 1;",
        "    set c = 2;",
        "  }",
        "}",
    ]


def test_blank_lines_are_kept_one_at_a_time_and_not_at_the_ends_of_blocks():
    assert formatted("\n\nlet a = 1;\n\n\n\nlet b = 2;\nlet c = 3;\n\n") == "let a = 1;\n\nlet b = 2;\nlet c = 3;\n"
    assert session("\n\nturn;\n\n\nend;\n\n") == ["turn;", "", "end;"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(a) + ((b))", "a + b"),
        ("(a + b) + c", "a + b + c"),
        ("a + (b + c)", "a + (b + c)"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a * b) / c", "a * b / c"),
        ("-(a + b)", "-(a + b)"),
        ("-(-(a))", "--a"),
        ("!(a == b)", "!(a == b)"),
        ("(a < b) < c", "(a < b) < c"),
        ("(a < b) == (c < d)", "a < b == c < d"),
        ("(a == b) == c", "(a == b) == c"),
        ("(a ? b : c) ? d : e", "(a ? b : c) ? d : e"),
        ("a ? (b ? c : d) : (e ? f : g)", "a ? b ? c : d : e ? f : g"),
        ("(a || b) && c", "(a || b) && c"),
        ("a||b&&c", "a || b && c"),
        ("~exp( (1) )", "~exp(1)"),
        ("~choice(1:2,3 : 4)", "~choice(1: 2, 3: 4)"),
        ("queue(r[(1)])", "queue(r[1])"),
        ("1_000 + .5 + 1e-3 + inf", "1_000 + .5 + 1e-3 + inf"),
    ],
)
def test_parentheses_and_spaces_of_expressions(text, shown):
    assert formatted(f"let x = {text};") == f"let x = {shown};\n"


def test_comments_at_the_ends_of_lines_stay_there_and_are_aligned():
    text = "let a = 1; // one\nlet long = 2;// two\n\nlet b = 3; // three\nstage q : fifo;\nlet c = 4; //four\n"
    assert formatted(text).splitlines() == [
        "let a = 1;     // one",
        "let long = 2;  // two",
        "",
        "let b = 3;  // three",
        "stage q : fifo;",
        "let c = 4;  //four",
    ]


def test_lines_of_very_different_length_are_not_aligned():
    long = "x" * 40
    assert formatted(f"let a = 1; // one\nlet b = {long}; // two\n").splitlines() == [
        "let a = 1;  // one",
        f"let b = {long};  // two",
    ]


def test_comments_on_their_own_lines_stay_in_front_of_what_they_precede():
    text = "// head\n\n// of a\nlet a = 1;\n  // of the session\nsession {\n// first\nturn;\n// last\n}\n// end"
    assert formatted(text).splitlines() == [
        "// head",
        "",
        "// of a",
        "let a = 1;",
        "// of the session",
        "session {",
        "  // first",
        "  turn;",
        "  // last",
        "}",
        "// end",
    ]


def test_comments_behind_braces_stay_there():
    text = "pool kv { // in\ncap 1; // one\n} // out\nsession { loop { // deep\nend; } // done\n} // all"
    assert formatted(text).splitlines() == [
        "pool kv {  // in",
        "  cap 1;  // one",
        "}  // out",
        "session {",
        "  loop {  // deep",
        "    end;",
        "  }  // done",
        "}  // all",
    ]


def test_a_comment_behind_the_first_of_two_statements_is_not_one_of_the_header():
    assert session("loop { turn; // a\nend; }") == ["loop {", "  turn;  // a", "  end;", "}"]


def test_comments_inside_of_a_statement_move_in_front_of_it():
    assert session("set a = // why\n 1 + // how\n 2; // that") == ["// why", "// how", "set a = 1 + 2;  // that"]
    assert session("hold kv (1), // memory\n slots (1) // slots\n { turn; }") == [
        "// memory",
        "// slots",
        "hold kv (1), slots (1) {",
        "  turn;",
        "}",
    ]


def test_comments_between_the_parts_of_a_statement_move_into_the_nearest_block():
    assert session("branch (p) { turn; } // no\nelse // or\n{ end; }") == [
        "branch (p) {",
        "  turn;",
        "} else {",
        "  // no",
        "  // or",
        "  end;",
        "}",
    ]
    assert session("hold kv (1) { turn;\n} // kept\ncache (1);") == [
        "hold kv (1) {",
        "  turn;",
        "  // kept",
        "} cache (1);",
    ]


def test_comments_keep_a_short_item_from_becoming_one_line():
    assert formatted("pool kv { // memory\n}").splitlines() == ["pool kv {  // memory", "}"]
    assert session("branch (p) { end; // stop\n}") == ["branch (p) {", "  end;  // stop", "}"]


def test_spaces_at_the_end_of_a_comment_go():
    assert formatted("// a  \t\nlet a = 1; // b \n") == "// a\nlet a = 1;  // b\n"


def test_an_empty_program_is_empty_text():
    assert formatted("") == formatted("\n \n") == ""
