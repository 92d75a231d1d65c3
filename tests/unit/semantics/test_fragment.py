"""Which programs are finite Markov chains, and every reason why one is not. Goldens are in `tests/errors`."""

from pathlib import Path

import pytest
from chain_programs import PROGRAMS

from serq.pipeline import load, load_text
from serq.semantics.explore import with_limit
from serq.semantics.fragment import violations

ROOT = Path(__file__).parents[3]
HEAD = """stage s : fifo;
stage d : delay;
pool m { cap 4; }
workload { arrive closed(2); }
"""


def codes(text: str, **options: bool) -> list[tuple[str, int]]:
    """Codes and lines of all reasons."""
    return [(d.code, d.span.line) for d in violations(load_text(text).program, **options)]


def session(*lines: str) -> str:
    return HEAD + "session { loop {\n" + "\n".join(lines) + "\nrun d (~exp(1));\n} }"


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_admitted(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize("path", sorted((ROOT / "tests/data/values/programs").glob("*.sq")), ids=lambda x: x.stem)
def test_the_reference_programs_are_admitted(path: Path) -> None:
    assert violations(load(path).program) == ()


@pytest.mark.parametrize(
    "line",
    [
        "run s (cached_twice ? ~exp(1) : 0);",
        "run s (cached_twice * ~erlang(3, 2) / 4);",
        "run s (0);",
        "set w = cached_twice ? ~exp(1) : ~h2(2, 3); run s (w); observe x = w;",
        "set t = now; set x = t; observe y = x > 3 ? now * t : 1 / now;",
        "set u = ~uniform(0, 1); observe x = u * u;",
        "set w = ~exp(1); set w = 2 * w; run s (w);",
        "observe x = est_rho(s) + work(s);",
        "set w = ~exp(1); run s (w); set w = 1; run s (w == 1 ? ~exp(1) : 0);",
    ],
)
def test_allowed(line: str) -> None:
    assert codes(session("set cached_twice = ~bernoulli(0.5);", line)) == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("run s (1);", "SQ601"),
        ("set x = ~bernoulli(0.5); run s (1 + x);", "SQ601"),
        ("run s (~det(2));", "SQ601"),
        ("run s (~uniform(1, 2));", "SQ602"),
        ("run s (~geometric(0.5));", "SQ602"),
        ("run s (1 + ~exp(1));", "SQ603"),
        ("run s (max(~exp(1), 1));", "SQ603"),
        ("set a = ~exp(1); run s (a * a);", "SQ603"),
        ("set a = ~exp(1); branch (a > 1) { }", "SQ604"),
        ("hold m (min(4, w)) { run s (~exp(1)); }", "SQ604"),
        ("hold m (1) reserve (w) { run s (~exp(1)); }", "SQ604"),
        ("hold m (1) reuse (w) { run s (~exp(1)); } cache (1);", "SQ604"),
        ("hold m (1) { run s (~exp(1)); } cache (w);", "SQ604"),
        ("hold m (1) { grow m (w); run s (~exp(1)); }", "SQ604"),
        ("choose c in 2 by (w * c);", "SQ604"),
        ("run s (~exp(w));", "SQ603"),
        ("set a = ~exp(1); run s (a); run s (a);", "SQ605"),
        ("set a = ~exp(1); set b = a; run s (a); run s (b);", "SQ605"),
        ("set t = now; branch (t > 3) { }", "SQ606"),
        ("run s (now);", "SQ606"),
        ("set t = now; hold m (t) { run s (~exp(1)); }", "SQ606"),
        ("set g = ~geometric(0.5); branch (g > 2) { }", "SQ607"),
        ("branch (work(s) > 1) { }", "SQ607"),
        ("branch (est_rho(s) > 0.5) { }", "SQ607"),
        ("branch (price(s, 1, 1) > 2) { }", "SQ607"),
    ],
)
def test_refused(line: str, code: str) -> None:
    assert codes(session("set w = ~exp(1);", line)) == [(code, 7)]


def test_a_draw_that_a_loop_spends_again() -> None:
    assert codes(HEAD + "session { set a = ~exp(1); loop { run s (a); } }") == [("SQ605", 5)]


@pytest.mark.parametrize(
    "second", ["run d (x);", "run d (2 * x);", "set y = x; run d (1); run d (y);", "run e decode (x);"]
)
@pytest.mark.parametrize("first", ["run d (x);", "run e decode (x);"])
def test_a_number_of_slots_is_spent_once(first: str, second: str) -> None:
    text = "stage e : step { budget 2; cost 1; } stage d : delay; workload { arrive closed(2); }\n"
    text += "session { loop { set x = ~geometric(0.3);\n FIRST SECOND } }"
    assert codes(text.replace("FIRST", first).replace("SECOND", "observe g = x;")) == []
    found = codes(text.replace("FIRST", first).replace("SECOND", second))
    assert found[0] == ("SQ605", 3)
    assert {code for code, _ in found} == {"SQ605"}


def test_a_draw_before_a_hold_that_can_be_preempted_is_spent_twice() -> None:
    body = session("set w = ~exp(1);", "hold m (1) { run s (w); grow m (1); }")
    assert codes(body) == []
    assert codes(body.replace("cap 4;", "cap 4; preempt lifo;")) == [("SQ605", 7)]


def test_keys() -> None:
    body = session("set t = now; set u = 1;", "hold m (1) { run s (~exp(1)); } cache (1);")
    assert codes(body.replace("cap 4;", "cap 4; evict by (queued, size, u); queue by (u);")) == []
    assert codes(body.replace("cap 4;", "cap 4; evict by (age, now, last); queue by (waited, t);")) == [
        ("SQ608", 3), ("SQ606", 3), ("SQ608", 3), ("SQ608", 3), ("SQ606", 3),
    ]  # fmt: skip


def test_rates_of_sharing_stages() -> None:
    assert codes(session("run s (~exp(1));").replace("s : fifo", "s : ps(n / 2)")) == []


OPEN = "stage s : fifo;\nworkload { arrive ARRIVALS; }\nsession { BODY run s (~exp(1)); }"


@pytest.mark.parametrize(
    ("arrivals", "body", "expected"),
    [
        ("poisson(1)", "", [("SQ612", 2)]),
        ("poisson(1) limit(3)", "", []),
        ("renewal(~exp(2))", "", [("SQ612", 2)]),
        ("renewal(~exp(2)) limit(3)", "", []),
        ("renewal(3 * ~exp(2)) limit(3)", "", []),
        ("renewal(2) limit(3)", "", [("SQ611", 2)]),
        ("renewal(~erlang(2, 1)) limit(3)", "", [("SQ611", 2)]),
        ("renewal(~exp(1) + ~exp(1)) limit(3)", "", [("SQ611", 2)]),
        ("renewal(~bernoulli(0.5) ? ~exp(1) : ~exp(2)) limit(3)", "", [("SQ611", 2)]),
        ("poisson(1)", "branch (queue(s) >= 3) { end; }", []),
        ("poisson(1)", "set full = busy(s); branch (full) { end; }", []),
        ("poisson(1)", "branch (0.5) { end; }", [("SQ612", 2)]),
        ("batch(3)", "", []),
        ("none", "", []),
        ("poisson(1) limit(3)", "branch (serial > 3) { end; }", [("SQ607", 3)]),
        ("batch(4)", "branch (serial > 3) { end; }", []),
    ],
)
def test_workloads(arrivals: str, body: str, expected: list[tuple[str, int]]) -> None:
    assert codes(OPEN.replace("ARRIVALS", arrivals).replace("BODY", body)) == expected


@pytest.mark.parametrize("arrivals", ["poisson(0.5) limit(3)", "closed(3)", "renewal(~exp(1)) limit(3)"])
@pytest.mark.parametrize(
    ("pool", "body"),
    [
        ("queue by (-serial);", "hold m (1) { run s (~exp(1)); }"),
        ("evict by (1, serial % 2);", "hold m (1) { run s (~exp(1)); } cache (1);"),
        ("preempt by (0 * serial);", "hold m (1) { run s (~exp(1)); grow m (1); }"),
        ("", "hold m (1 + serial % 2) { run s (~exp(1)); }"),
        ("", "hold m (1) reserve (serial == 1) { run s (~exp(1)); }"),
        ("", "hold m (1) reuse (min(serial, 1)) { run s (~exp(1)); } cache (1);"),
        ("", "hold m (1) { run s (~exp(1)); } cache (serial % 2);"),
        ("", "hold m (1) { grow m (serial % 2); run s (~exp(1)); }"),
        ("", "run s ((1 + serial % 2) * ~exp(1));"),
        ("", "run s (serial == 1 ? ~exp(1) : ~exp(2));"),
        ("", "run s (~exp(1 + serial));"),
        ("", "branch (0 * serial) { run s (~exp(1)); }"),
        ("", "run a[serial % 2] (~exp(1));"),
        ("", "choose i in 2 by (abs(i - serial % 2)); run a[i] (~exp(1));"),
        ("", "choose i in 1 + serial % 2 by (i); run a[i] (~exp(1));"),
        ("", "set k = serial; run s (~exp(1)); branch (k == 1) { run s (~exp(1)); }"),
    ],
)
def test_the_serial_of_sessions_that_come_without_end_steers_nothing(arrivals: str, pool: str, body: str) -> None:
    text = f"stage s : fifo; stage a[2] : fifo; pool m {{ cap 4; {pool} }} workload {{ arrive {arrivals}; }}\n"
    found = codes(text + f"session {{ {body} run s (~exp(1)); }}")
    assert [code for code, _ in found] == ["SQ607"]
    # as many as there are at the beginning, and no more: their serials are constants of theirs
    session = f"session {{ {body} loop {{ run s (~exp(1)); }} }}"
    assert codes(text.replace(arrivals, "closed(3)") + session) == []
    assert codes(text.replace(arrivals, "batch(3)") + session) == []


@pytest.mark.parametrize(
    ("key", "code"), [("(1 - i) * now", "SQ606"), ("i * est_rho(s)", "SQ607"), ("w - i", "SQ604"), ("1 - i", None)]
)
def test_a_key_that_weighs_its_own_index(key: str, code: str | None) -> None:
    text = "stage s[2] : fifo; workload { arrive closed(2); }\nsession { set w = ~exp(1); "
    text += f"choose i in 2 by ({key}); run s[i] (~exp(1)); }}"
    assert codes(text.replace("(s)", "(s[0])")) == ([] if code is None else [(code, 2)])


def test_a_limit_given_from_outside_admits() -> None:
    program = load_text(OPEN.replace("ARRIVALS", "poisson(1)").replace("BODY", "")).program
    assert violations(with_limit(program, 5)) == ()
    assert violations(with_limit(program, None)) == violations(program) != ()


def test_phases_given_from_outside_admit_work_that_they_can_stand_for() -> None:
    text = session("run s (2);", "run s (~uniform(0, 1));", "run s (1 + ~exp(1));", "run s (~geometric(0.5));")
    assert codes(text) == [("SQ601", 6), ("SQ602", 7), ("SQ603", 8), ("SQ602", 9)]
    assert codes(text, fixed_work=True) == [("SQ602", 9)]


def test_a_serving_model_gives_every_reason_with_its_line() -> None:
    path = ROOT / "models/serving/vllm.sq"
    found = violations(load(path).program)
    lines = path.read_text().splitlines()
    shown: dict[str, list[str]] = {}
    for d in found:
        shown.setdefault(d.code, []).append(lines[d.span.line - 1][d.span.column - 1 :])
    assert [text.split()[:2] for text in shown["SQ609"]] == [["pool", "kv"]]
    assert [text.split(")")[0] for text in shown["SQ612"]] == ["lam"]
    # A number that steers is one complaint, at the first place that it reaches; the others are named with their lines.
    assert [text.startswith("min(max(") for text in shown["SQ604"]] == [True]
    assert shown["SQ607"] == shown["SQ604"]
    also = next(d for d in found if d.code == "SQ604").notes[-1].message
    wanted = ("prefill (known", "(known ==", "decode (prompt", "cache (prompt")
    for line in (n for n, text in enumerate(lines, 1) if any(w in text for w in wanted)):
        assert f"(line {line})" in also
    assert "the reserve of this hold" in also
    assert "the reuse of this hold" in also
    assert set(shown) == {"SQ604", "SQ605", "SQ607", "SQ609", "SQ612"}
    assert list(found) == sorted(found, key=lambda d: (d.span, d.code))


def test_a_function_of_a_geometric_draw_is_told_from_the_draw() -> None:
    slots = "stage s : fifo; stage d : delay; workload { arrive closed(3); } "
    slots += "session { loop { WORK run d (~geometric(0.5)); } }"
    assert codes(slots.replace("WORK", "run s (~geometric(0.3));")) == []
    (found,) = violations(load_text(slots.replace("WORK", "run s (min(3, ~geometric(0.3)));")).program)
    assert "a function of ~geometric" in found.message
    assert "is a ~choice among them" in found.notes[0].message
    assert codes(slots.replace("WORK", "run s (~choice(1: 0.3, 2: 0.21, 3: 0.49));")) == []
