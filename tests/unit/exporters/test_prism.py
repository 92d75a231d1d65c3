"""The PRISM text of programs, by what stands in it: names, guards, constants, labels, commands, what is refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from serq.compare.storm import check_prism, long_run
from serq.exporters import automaton
from serq.exporters.errors import NotSymbolicError
from serq.exporters.prism import Prism, PrismExport
from serq.pipeline import load_text

HEAD = "stage svc : fifo; stage think : delay; "


def export(text: str, **options: object) -> PrismExport:
    return Prism(**options).export(load_text(text + " run { horizon 1; }").program)  # type: ignore[arg-type]


def queue(session: str, arrivals: str = "closed(3)", items: str = HEAD) -> PrismExport:
    return export(f"{items} workload {{ arrive {arrivals}; }} session {{ {session} }}")


CYCLE = "loop { set t = now; run svc (~exp(1 / mu)); observe r = now - t; run think (~exp(Z)); }"
LETS = "let N = 3; let mu = 2; let Z = 0.5; "


def test_constants_stay_open_and_are_integers_where_they_count() -> None:
    done = queue(CYCLE, "closed(N)", LETS + HEAD)
    assert "const int N;\n" in done.model
    assert "const double mu;\n" in done.model
    assert done.open_constants == {"N": 3, "mu": 2, "Z": Fraction(1, 2)}
    assert done.integers == {"N"}


def test_only_what_is_asked_for_stays_open() -> None:
    text = f"{LETS}{HEAD} workload {{ arrive closed(N); }} session {{ {CYCLE} }}"
    done = export(text, keep_open=frozenset({"mu"}))
    assert "const int N = 3;" in done.model
    assert set(done.open_constants) == {"mu"}


def test_a_quotient_of_numbers_stays_open_as_a_number_does() -> None:
    lets = "let N = 6 / 2; let mu = 3 / 2; let Z = 2 * (1 + 1); "
    done = queue(CYCLE, "closed(N)", lets + HEAD)
    assert done.open_constants == {"N": 3, "mu": Fraction(3, 2), "Z": 4}
    assert "const int N;\n" in done.model
    assert "const double mu;\n" in done.model
    text = f"{lets}{HEAD} workload {{ arrive closed(N); }} session {{ {CYCLE} }}"
    assert export(text, keep_open=frozenset({"mu"})).open_constants == {"mu": Fraction(3, 2)}


def test_a_let_made_of_lets_keeps_its_expression() -> None:
    done = queue(CYCLE.replace("1 / mu", "m"), "closed(3)", "let mu = 2; let m = 1 / mu; let Z = 1; " + HEAD)
    assert "const double m = 1 / mu;" in done.model
    assert set(done.open_constants) == {"mu", "Z"}


def test_what_follows_from_an_open_constant_is_open_with_it() -> None:
    text = f"let N = 3; let nu = 1; let mu = 2 * nu; let Z = 1; {HEAD} workload {{ arrive closed(N); }}"
    done = export(f"{text} session {{ {CYCLE} }}", keep_open=frozenset({"nu"}))
    assert "const double nu;\nconst double mu = 2 * nu;\n" in done.model
    assert done.open_constants == {"nu": 1}


def test_what_a_fixed_constant_follows_from_is_fixed_and_named_too() -> None:
    items = "let D = 4; let N = D / 2; let mu = D; let Z = 1; " + HEAD
    done = queue(CYCLE, "closed(N)", items)
    assert "// Fixed, because the structure depends on them: D, N." in done.model
    assert "const double D = 4;\nconst double mu = D;\n" in done.model
    assert set(done.open_constants) == {"Z"}


def test_a_constant_that_shapes_the_structure_is_fixed_and_named() -> None:
    items = "let K = 2; " + HEAD
    done = queue("loop { branch (K > 1) { run svc (~exp(K)); } run think (~exp(1)); }", items=items)
    assert "// Fixed, because the structure depends on them: K." in done.model
    assert "const double K = 2;" in done.model
    assert done.open_constants == {}


@pytest.mark.parametrize("index", ["2", "0 - 1", "0.5"])
def test_a_member_that_does_not_exist_is_never_another_stage(index: str) -> None:
    items = "stage think : delay; stage a[2] : fifo; stage last : fifo;"
    with pytest.raises(NotSymbolicError):
        queue(f"loop {{ run think (~exp(1)); set k = {index}; run a[k] (~exp(1)); }}", items=items)


@pytest.mark.parametrize("nothing", ["w", "~exp(w)", "2 * ~erlang(3, w)", "~h2(w, 17/8)"])
def test_a_run_of_no_work_is_no_job_and_fixes_what_makes_it_so(nothing: str) -> None:
    plain = queue("loop { run svc (~exp(1)); run think (~exp(2)); }")
    idle = queue(
        f"loop {{ run svc (~exp(1)); run think ({nothing}); run think (~exp(2)); }}", items="let w = 0; " + HEAD
    )
    assert idle.open_constants == {}
    kept = [line for line in idle.model.splitlines() if not line.startswith("//") and "const double w" not in line]
    assert "\n".join(kept).split() == "\n".join(s for s in plain.model.splitlines() if not s.startswith("//")).split()


def test_servers_share_one_rate() -> None:
    # One command per server, each guarded by `somebody waits`, would let a single job leave at three times its rate.
    done = queue("loop { run svc (~exp(1)); run think (~exp(1)); }", items="stage svc : fifo(3); stage think : delay;")
    assert "[] n_svc > 0 -> min(n_svc, 3) : " in done.model


def test_every_command_guards_its_counters() -> None:
    done = queue("loop { run think (~exp(1)); branch (0.5) { run svc (~exp(1)); } else { run svc (~exp(2)); } }")
    commands = [line.strip() for line in done.model.splitlines() if line.strip().startswith("[]")]
    assert commands
    for command in commands:
        guard, updates = command.removeprefix("[] ").split(" -> ")
        for variable in ("n_svc_1", "n_svc_2", "q_svc", "n_think"):
            if f"({variable}' = {variable} - 1)" in updates:
                assert f"{variable} > 0" in guard


def test_serials_are_no_counters() -> None:
    done = queue("run svc (~exp(1)); observe who = serial;", "poisson(0.5) limit(3)")
    assert "observe.who.mean: not here, it needs the sessions told apart by `serial`" in done.properties


def test_labels_say_where_somebody_is() -> None:
    model = queue("loop { run svc (~exp(1)); run think (~exp(1)); }").model
    assert 'label "occupied_svc" = n_svc > 0;' in model
    assert 'label "queueing_svc" = max(n_svc - 1, 0) > 0;' in model


def test_reserved_names_are_changed_and_told() -> None:
    items = "let R = 2; let C = 3; stage ma : fifo(C); stage init : delay; "
    done = queue("loop { run ma (~exp(1)); run init (~exp(1)); }", "closed(R)", items)
    assert "// The constant R is called R_ here." in done.model
    assert done.names.named("R_").name == "R"
    value = check_prism(done.model, {"R_": 2, "C_": 3}, [long_run("number_ma")])
    assert value.values == (Fraction(1),)


def test_the_commands_for_both_tools_are_given() -> None:
    prism, storm = queue(CYCLE, "closed(N)", LETS + HEAD).commands
    values = prism.removeprefix("prism program.prism program.props -const ").removesuffix(" -exact")
    assert set(values.split(",")) == {"N=3", "mu=2", "Z=0.5"}
    assert storm == f"storm --prism program.prism --prop program.props --constants {values} --prismcompat --exact"


def test_known_results_stand_beside_their_properties() -> None:
    text = f"{LETS}{HEAD} workload {{ arrive closed(N); }} session {{ {CYCLE} }}"
    done = export(text, results={"number_svc": Fraction(7, 3)})
    lines = done.properties.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("// RESULT"))
    assert lines[at].endswith(": 7/3")
    assert 'R{"number_svc"}=? [ S ]' in lines[at + 1]


def test_an_absorbing_end_has_no_way_out() -> None:
    done = queue("run svc (~exp(1)); end;", "batch(3)", "stage svc : fifo;")
    commands = [line for line in done.model.splitlines() if line.strip().startswith("[]")]
    assert [c.strip() for c in commands] == ["[] n_svc > 0 -> 1 : (n_svc' = n_svc - 1);"]


@pytest.mark.parametrize(
    ("session", "construct"),
    [
        ("loop { run svc (2); }", "this work"),
        ("loop { run svc (~uniform(1, 2)); }", "this work"),
        (
            "set s = ~exp(1); loop { branch (s > 1) { run svc (~exp(1)); } else { run svc (~exp(2)); } }",
            "this statement",
        ),
    ],
)
def test_what_has_no_counter_form_is_named_with_its_place(session: str, construct: str) -> None:
    with pytest.raises(NotSymbolicError) as caught:
        queue(session)
    diagnostic = caught.value.diagnostics[0]
    assert construct in diagnostic.message
    assert diagnostic.span.line == 1
    assert diagnostic.span.column > 60


def test_a_pool_is_refused_once_and_what_follows_from_it_is_not() -> None:
    items = HEAD + "pool kv { cap 2; queue by (serial); } "
    with pytest.raises(NotSymbolicError) as caught:
        queue(
            "loop { hold kv (1) { branch (cached >= 1) { run svc (~exp(1)); } } cache (1); run think (~exp(1)); }",
            items=items,
        )
    assert [d.message.split(" has")[0] for d in caught.value.diagnostics] == ["`queue by` of kv"]


def holding(units: str = "1", after: str = "", think: str = "~exp(2)", inner: str = "", reuse: str = "") -> str:
    """A session that holds `kv` for a service and then thinks."""
    body = f"{inner} run svc (~exp(cached ? 1 : 2));"
    return f"loop {{ hold kv ({units}) {reuse} {{ {body} }} {after} run think ({think}); }}"


UNSERVED = (
    "loop { hold kv (1) { observe busy = busy(svc); branch (cached) { run svc (~exp(1)); } } cache (1);"
    " run think (~exp(1)); }"
)


@pytest.mark.parametrize(
    ("pool", "session", "said"),
    [
        ("cap 2;", holding(after="cache (1);", think="~erlang(2, 2)"), "the oldest"),
        ("cap 2;", holding("1 + queue(svc)"), "depends on the state"),
        ("cap 2;", holding("0.5"), "no whole number"),
        ("cap 4;", holding(inner="grow kv (1);"), "`grow`"),
        ("cap 4;", holding("2", "cache (2);", reuse="reuse (1)"), "without an owner"),
        ("cap 4; block 2;", holding("4", "cache (4);"), "block by block"),
        ("cap 2;", holding(after="cache (1); branch (0.5) { end; }"), "outlive"),
        ("cap 1;", UNSERVED, "at one instant"),
    ],
)
def test_what_no_counters_hold_of_a_pool_is_said(pool: str, session: str, said: str) -> None:
    with pytest.raises(NotSymbolicError) as caught:
        queue(session, items=HEAD + f"pool kv {{ {pool} }} ")
    assert any(said in d.message for d in caught.value.diagnostics), [d.message for d in caught.value.diagnostics]


def test_a_cap_that_decides_who_can_wait_is_fixed_and_the_others_stay_open() -> None:
    items = "let B = 1; let C = 3; stage svc : ps(1); stage think : delay; pool slots { cap B; } "
    inner = "hold kv (1) { run svc (~exp(cached ? 1 : 3)); } cache (1);"
    done = queue(
        f"loop {{ hold slots (1) {{ {inner} }} run think (~exp(4)); }}", "closed(N)",
        f"let N = 5; {items} pool kv {{ cap C; pin waiting; }}",
    )  # fmt: skip
    assert "// Fixed, because the structure depends on them: B." in done.model
    assert set(done.open_constants) == {"N", "C_"}


def test_memory_in_open_programs_starts_empty_and_counts_who_waits_for_it() -> None:
    items = "let K = 4; let C = 2; " + HEAD + "pool kv { cap C; } "
    done = queue("hold kv (1) { run svc (~exp(1)); }", "poisson(1) limit(K)", items)
    assert "// An arrival that finds K sessions present is lost." in done.model
    assert "  q_kv : [0..K] init 0; // line 1" in done.model
    assert "n_svc + q_kv < K" in done.model


def test_a_session_alone_can_have_what_it_wants_of_an_unlimited_pool() -> None:
    done = queue(
        "loop { hold kv (3) { run svc (~exp(1)); } cache (3); run think (~exp(1)); }", items=HEAD + "pool kv { } "
    )
    assert "q_kv" not in done.model
    assert "formula held_kv = 3 * n_svc;" in done.model


LOSS = """let N = 2; let c = 1; let lam = 2; let p = 0.25;
stage svc : fifo(c); stage d : delay; workload { arrive poisson(lam); }
session {
  observe blocked = busy(svc) + queue(svc) + busy(d) >= N;
  branch (busy(svc) + queue(svc) + busy(d) >= N) { end; }
  set k = ~choice(1: p, 2: 1 - p);
  branch (k == 1) { run svc (~exp(1)); } else { run d (~exp(1)); }
}"""


def test_a_session_that_leaves_at_once_needs_no_room() -> None:
    made = export(LOSS, bound=2)
    (leaving,) = [line for line in made.model.splitlines() if line.endswith("-> lam : true;")]
    assert leaving == "  [] min(n_svc, c) + max(n_svc - c, 0) + n_d >= N -> lam : true;"


def test_what_moves_a_bound_that_only_tests_keep_is_fixed() -> None:
    made = export(LOSS, bound=2)
    assert set(made.open_constants) == {"lam", "p"}
    assert {"const double N = 2;", "const int c = 1;"} <= set(made.model.splitlines())


def test_open_arrivals_without_limit_need_a_bound() -> None:
    with pytest.raises(NotSymbolicError, match="largest number"):
        queue("run svc (~exp(1));", "poisson(0.5)")
    text = f"{HEAD} workload {{ arrive poisson(0.5); }} session {{ run svc (~exp(1)); }}"
    assert "n_svc : [0..4]" in export(text, bound=4).model


def test_what_an_arrival_without_room_does_is_said_in_the_header() -> None:
    text = f"let K = 4; {HEAD} workload {{ arrive poisson(0.5) limit(K); }} session {{ run svc (~exp(1)); }}"
    model = export(text).model
    assert "// An arrival that finds K sessions present is lost." in model
    assert "  n_svc >= K : 0.5;" in model.split('rewards "lost"')[1]


def test_a_random_beginning_is_said_in_the_header() -> None:
    note = "// Where sessions begin is random; here all take the first way. Long-run values are the same."
    assert note in queue("loop { branch (0.5) { run svc (~exp(1)); } else { run think (~exp(1)); } }").model
    assert note not in queue(CYCLE, items=LETS + HEAD).model


TRAP = "branch (a) { loop { run think (~exp(1)); } } run svc (~exp(1)); branch (b) { run svc (~exp(2)); }"


@pytest.mark.parametrize(
    ("session", "valid"),
    [
        (TRAP, "a > 0"),
        (TRAP.replace("(a)", "(1 - a)").replace("loop", "branch (0) { run svc (1); } loop"), "a < 1"),
        ("loop { branch (a) { run svc (~exp(1)); } else { run think (~exp(1)); } run think (~exp(2)); }", ""),
        ("loop { branch (busy(svc) < 1) { branch (a) { run svc (~exp(1)); } } run think (~exp(b)); }", ""),
    ],
    ids=["trap", "complement", "one cycle", "guarded"],
)
def test_where_a_random_beginning_matters_not(session: str, valid: str) -> None:
    """All come to one place, if some probabilities are positive; these are then demanded of the constants."""
    done = queue(session, items="let a = 0.3; let b = 0.5; " + HEAD)
    said = [line for line in done.model.splitlines() if "Valid for" in line]
    assert said == ([f"// Valid for {valid}; other constants are refused."] if valid else [])


ALTERNATE = "loop { run svc (~exp(2)); run svc (~exp(3)); }"


@pytest.mark.parametrize(
    "session",
    [
        "set c = ~bernoulli(0.3); loop { run svc (~exp(1 + c)); run think (~exp(1)); }",
        "branch (0.3) { loop { run svc (~exp(1)); } } loop { run think (~exp(1)); }",
        # three that take turns in one line: two of one kind and one of the other never meet as three of one kind
        f"branch (0.5) {{ run svc (~exp(1)); }} {ALTERNATE}",
        "branch (queue(svc) < 9) { branch (0.3) { loop { run svc (~exp(1)); } } } loop { run think (~exp(1)); }",
        "hold m (1) { run svc (~exp(1)); } branch (0.3) { loop { run svc (~exp(1)); } } loop { run think (~exp(1)); }",
    ],
    ids=["kinds", "stages", "turns", "guarded", "behind a pool"],
)
def test_where_it_matters_there_is_no_text(session: str) -> None:
    pool = "pool m { cap 1; } " if "hold" in session else ""
    with pytest.raises(NotSymbolicError, match="to which every session comes"):
        queue(session, items=pool + HEAD)


def test_of_who_begins_in_one_way_nothing_is_asked() -> None:
    assert "Where sessions begin is random" not in queue(ALTERNATE).model


def test_an_export_ends_whatever_may_happen_at_one_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways into a loop without time double the walks in each round; twenty coins have a million outcomes."""
    monkeypatch.setattr(automaton, "_STEPS", 500)
    monkeypatch.setattr(automaton, "_ALL_STEPS", 1000)
    round_and_round = "loop { branch (0.1) { end; } branch (0.2) { end; } run svc (~exp(1)); }"
    with pytest.raises(NotSymbolicError, match="it lets no time pass"):
        queue(round_and_round)
    coins = "branch (0.5) { set k = k + 1; } " * 20
    with pytest.raises(NotSymbolicError, match="it can go too many ways at one instant"):
        queue(f"loop {{ set k = 0; {coins} run svc (~exp(1)); observe x = k; }}")


def test_a_line_break_in_a_file_name_breaks_no_line() -> None:
    text = f"{HEAD} workload {{ arrive closed(3); }} session {{ loop {{ run svc (~exp(1)); }} }}"
    done = Prism().export(load_text(text, "new\nline\udcff.sq").program)
    assert done.model.startswith("// new_line_: exported by serQ;")
    assert all(line.startswith(("//", '"')) for line in done.properties.splitlines() if line)


def test_file_names_that_a_shell_would_split_are_quoted() -> None:
    linked = load_text(f"{HEAD} workload {{ arrive closed(3); }} session {{ loop {{ run svc (~exp(1)); }} }}").program
    done = Prism().export(replace(linked, name="two words"))
    prism, storm = done.commands
    assert prism == "prism 'two words.prism' 'two words.props' -exact"
    assert storm.startswith("storm --prism 'two words.prism' --prop 'two words.props'")


@pytest.mark.parametrize(("cv2", "said"), [("4", True), ("17 / 8", False), ("5 / 3", False)])
def test_irrational_branches_are_told(cv2: str, said: bool) -> None:
    text = "stage s : fifo; stage z : delay; workload { arrive closed(2); } "
    text += f"session {{ loop {{ run s (~h2(1, {cv2})); run z (~exp(2)); }} }}"
    model = Prism().export(load_text(text).program).model
    assert ("irrational" in model) == said
