"""Programs in the earlier form become the programs that they stand for."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import serq

import serq as api
from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.lift.lift import lift
from serq.lift.words import words_of
from serq.models import shipped

HEAD = "let N = 2; let K = 3; pool kv { cap 4; } stage s : serial; stage z : external; workload { arrive closed(N); } "


def lifted(session: str, head: str = HEAD) -> str:
    return lift(SourceFile("v1.sq", head + session))


def session(text: str) -> str:
    """The lines of the session, without layout."""
    whole = lifted(f"route {{ {text} }}")
    return " ".join(whole[whole.index("session") :].split())


def test_stages() -> None:
    text = lifted(
        "route { end; }", "stage a : serial; stage b : serial (2); stage c : shared (n / 2); stage d[3] : external;"
    )
    for line in ("stage a : fifo;", "stage b : fifo(2);", "stage c : ps(n / 2);", "stage d[3] : delay;"):
        assert line in text


def test_an_attribute_is_no_kind_of_stage() -> None:
    assert "set a = now > 1 ? 2 : serial;" in session("set a = now > 1 ? 2 : serial; end;")


def test_holds_nest_and_keep_their_units() -> None:
    text = session("admit kv K + 1; run s (1); admit kv (2); free kv; free kv cache (K);")
    assert text == "session { hold kv (K + 1) { run s (1); hold kv (2) { } } cache (K); }"


def test_members_of_arrays() -> None:
    assert "hold kv[r] (1) { run s (1); } cache (2);" in session(
        "set r = 0; admit kv[r] 1; run s (1); free kv[r] cache 2;"
    )


@pytest.mark.parametrize("written", ["branch_p", "branch p", "branch (p)", "branch_ (p)", "branch with (p)"])
def test_branches(written: str) -> None:
    assert "branch (p) { run s (1); }" in session(f"set p = 0.5; {written} {{ run s (1); }} end;")


def test_a_branch_with_a_number() -> None:
    assert "branch (0.25) { end; }" in session("branch_0.25 { end; }")


def test_a_hit_is_what_was_cached() -> None:
    assert "set h = cached >= K && now > 0;" in session("admit kv K; set h = H && now > 0; free kv cache K;")


def test_a_hit_belongs_to_the_hold_that_caches() -> None:
    text = session("admit kv 4; admit kv 1; branch H { run s (1); } free kv; free kv cache 4;")
    assert "branch (cached >= 4)" in text


def test_what_is_cached_may_change() -> None:
    text = session("set l = 1; loop { admit kv 4; branch H { run s (1); } set l = l + 1; free kv cache l; run z (1); }")
    assert text.startswith("session { set kept_kv = inf; set l = 1;")
    assert "branch (cached >= kept_kv)" in text
    assert "set kept_kv = l; } cache (l);" in text


def test_an_own_h_is_left_alone() -> None:
    assert "set H = 1; observe a = H;" in session("set H = 1; observe a = H; end;")


def test_comments_stay() -> None:
    text = lifted("route { // way\n  admit kv 1; // take\n\n  run s (1);\n  // give\n  free kv; end; }")
    assert [line.strip() for line in text.splitlines() if "//" in line] == [
        "session {  // way", "hold kv (1) {  // take", "// give",
    ]  # fmt: skip


@pytest.mark.parametrize("model", shipped(), ids=lambda m: m.name)
def test_a_program_in_the_present_form_is_left_as_it_is(model) -> None:
    text = model.path.read_text("utf-8")
    assert "".join(word.text for word in words_of(SourceFile(model.name, text))) == text
    assert api.loads(lift(SourceFile(model.path.name, text))).program.code == api.load(model.path).program.code


def test_other_faults_are_reported_where_they_stand() -> None:
    with pytest.raises(LoadError, match=r"v1.sq:2:3: SQ03"):
        lifted("route {\n  rnu s (1);\n}")


def test_a_lifted_program_is_solved() -> None:
    """Two sessions, one of which fits into the cache: a hit exactly when the other was not there in between."""
    text = lifted(
        "route { loop { admit kv K; observe hit = H; run s (~exp(H ? 1 : 2)); free kv cache K; run z (~exp(4)); } }"
    )
    hit = api.loads(text).solve(exact=True)["observe.hit.mean"]
    assert isinstance(hit, Fraction)
    assert 0 < hit < 1
    assert api.loads(text, N=1).solve(exact=True)["observe.hit.mean"] == 1


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "v1.sq"
    file.write_text(HEAD + "route { admit kv 1; run s (1); free kv; }", "utf-8")
    done = serq(capsys, "lift", file, "--json")
    assert json.loads(done.out)["text"] == lift(SourceFile("v1.sq", file.read_text("utf-8")))
    file.write_text("route { admit kv 1; }", "utf-8")
    done = serq(capsys, "lift", file)
    assert done.status == 3
    assert "note: the block ends here" in done.err
