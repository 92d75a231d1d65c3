"""What exploring finds in programs small enough to draw."""

from collections.abc import Iterator
from fractions import Fraction

import pytest

from serq.base.errors import LimitError, OutsideFragmentError, RunError
from serq.ir.chain import Chain, Unmapped
from serq.ir.measures import measures_of
from serq.models import find
from serq.pipeline import SolveOptions, load, load_text, solve
from serq.semantics import enumerated
from serq.semantics.explore import ExploreOptions, explore

LOOP = """
workload { arrive closed(N); }
session { loop {
  run svc (~exp(1 / mu));
  run think (~exp(Z));
} }
"""
QUEUE = "let N = 3; let mu = 2; let Z = 4; stage svc : fifo; stage think : delay;" + LOOP


def chain_of(text: str, options: ExploreOptions | None = None, **sets: str) -> Chain:
    return explore(load_text(text, overrides=sets).program, options)


def arcs(chain: Chain) -> Iterator[tuple[str, str, Fraction]]:
    return ((chain.states[t.source], chain.states[t.target], t.rate) for t in chain.transitions)


def value(text: str, measure: str, **options: object) -> Fraction:
    estimates = solve(load_text(text).program, SolveOptions(exact=True, **options)).estimates
    (found,) = [e.value for e in estimates if e.measure == measure]
    return Fraction(found)


def test_a_finite_source_queue() -> None:
    chain = chain_of(QUEUE.replace("fifo", "fifo(2)"), N="2", Z="1")
    assert set(arcs(chain)) == {
        ("2 svc:4", "svc:4, think:5", Fraction(4)),
        ("svc:4, think:5", "2 think:5", Fraction(2)),
        ("svc:4, think:5", "2 svc:4", Fraction(1)),
        ("2 think:5", "svc:4, think:5", Fraction(2)),
    }
    assert chain.initial == ((0, Fraction(1)),)
    assert chain.states[0] == "2 svc:4"
    assert {(s.text, s.value) for s in chain.symbols} == {("mu", 2), ("1 / Z", 1)}


def test_rates_are_coefficients_of_symbols() -> None:
    chain = chain_of(QUEUE)
    for t in chain.transitions:
        assert t.rate == t.coefficient * chain.symbols[t.symbol].value
    thinking = {t.coefficient for t in chain.transitions if chain.symbols[t.symbol].text == "1 / Z"}
    assert thinking == {1, 2, 3}


def test_several_servers_serve_no_more_than_there_is() -> None:
    text = "stage think : delay; stage svc : fifo(3); workload { arrive closed(4); }"
    chain = chain_of(text + "session { loop { run think (~exp(1)); run svc (~exp(1 / 5)); } }")
    present = chain.state_rewards["stage.svc.number"]
    served = {present[t.source]: t.rate for t in chain.transitions if chain.symbols[t.symbol].value == 5}
    assert served == {1: 5, 2: 10, 3: 15, 4: 15}
    solved = solve(load_text(text + "session { loop { run think (~exp(1)); run svc (~exp(1)); } }").program)
    law = {present[i]: p for i, p in enumerate(solved.solution.probabilities)}
    assert law == {n: Fraction(k, 49) for n, k in enumerate((3, 12, 18, 12, 4))}


def test_branch_rates() -> None:
    text = """stage svc : fifo; stage a : delay; stage b : delay; workload { arrive closed(1); }
    session { loop { run svc (~exp(0.5)); branch (0.3) { run a (~exp(1)); } else { run b (~exp(1)); } } }"""
    chain = chain_of(text)
    out = {target.split(":")[0]: rate for source, target, rate in arcs(chain) if source.startswith("svc")}
    assert out == {"a": Fraction(3, 5), "b": Fraction(7, 5)}
    assert [value(text, f"stage.{s}.number") for s in ("svc", "a", "b")] == [
        Fraction(1, 3), Fraction(1, 5), Fraction(7, 15),
    ]  # fmt: skip


def test_a_stiff_chain() -> None:
    text = """stage a : delay; stage b : delay; stage slow : delay; workload { arrive closed(1); }
    session { loop { run a (~exp(1)); run b (~exp(1)); branch with (0.000001) { run slow (~exp(1000000)); } } }"""
    assert {value(text, f"stage.{s}.number") for s in ("a", "b", "slow")} == {Fraction(1, 3)}


def test_a_batch_ends() -> None:
    chain = chain_of("stage d : delay; workload { arrive batch(3); } session { run d (~exp(1)); end; }")
    (end,) = chain.labels["ended"]
    assert chain.states[end] == "empty"
    assert chain.lines[end] == ()
    assert not any(t.source == end for t in chain.transitions)
    assert [t.rate for t in chain.transitions] == [3, 2, 1]
    assert sum(value for t in chain.transitions for name, value in t.impulses if name == "stage.d.throughput") == 3
    assert chain.labels["deadlock"] == frozenset()


def test_a_deadlock_keeps_the_lines_where_sessions_wait() -> None:
    text = """stage d : delay; pool m { cap 2; }
    workload { arrive closed(2); }
    session { loop {
      run d (~exp(1));
      hold m (1) {
        run d (~exp(1));
        hold m (1) { run d (~exp(1)); }
      }
    } }"""
    chain = chain_of(text)
    (stuck,) = chain.labels["deadlock"]
    assert chain.lines[stuck] == (7,)
    assert chain.states[stuck] == "queue of m:7:9 (1st; holds 1 of m), queue of m:7:9 (2nd; holds 1 of m)"


OPEN = "stage svc : fifo; workload { arrive poisson(1) LIMIT; } session { run svc (~exp(1 / 2)); }"


def test_a_limit_loses_arrivals() -> None:
    inside = chain_of(OPEN.replace("LIMIT", "limit(4)"))
    outside = chain_of(OPEN.replace("LIMIT", ""), ExploreOptions(limit=4))
    assert set(arcs(inside)) == set(arcs(outside))
    assert inside.truncated == ()
    assert len(outside.truncated) == 1
    assert "4 sessions" in outside.truncated[0]
    lost = [t for t in inside.transitions if ("sessions.losses", 1) in t.impulses]
    assert [(t.source, t.target) for t in lost] == [(t.source, t.source) for t in lost]
    assert value(OPEN.replace("LIMIT", "limit(4)"), "sessions.losses") == Fraction(1, 31)


def test_the_first_session_of_a_poisson_stream_comes_at_once() -> None:
    chain = chain_of(OPEN.replace("LIMIT", "limit(4)"))
    assert [chain.states[i] for i, _ in chain.initial] == ["svc:1"]
    gaps = chain_of(OPEN.replace("poisson(1) LIMIT", "renewal(~exp(1)) limit(4)"))
    assert [gaps.states[i] for i, _ in gaps.initial] == ["empty"]


def test_a_population_that_grows_is_refused_with_the_place() -> None:
    text = OPEN.replace("LIMIT", "").replace("session { ", "session { branch (queue(svc) > 2 ? 0.5 : 0) { end; } ")
    with pytest.raises(OutsideFragmentError) as caught:
        chain_of(text, ExploreOptions(population=20))
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line, found.span.column) == ("SQ616", 1, 45)
    assert "more than 20 sessions" in found.message


def test_a_program_that_turns_sessions_away_needs_no_limit() -> None:
    text = OPEN.replace("LIMIT", "").replace("session { ", "session { branch (queue(svc) + busy(svc) >= 4) { end; } ")
    assert chain_of(text).size == 5


def test_too_many_states_name_what_grows() -> None:
    text = """stage d : delay; workload { arrive closed(1); }
    session { set k = 0; loop { set k = k + 1; run d (~exp(1)); observe n = k; } }"""
    with pytest.raises(LimitError) as caught:
        chain_of(text, ExploreOptions(states=50))
    assert caught.value.exit_status == 4
    assert "more than 50 states (51 were found)" in str(caught.value)
    assert "attribute k takes the most values, 51" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        (QUEUE.replace("think : delay", "think : fifo"), "queue of stage"),
        ("stage d : delay; workload { arrive closed(60); } session { loop { run d (~exp(1)); } }", None),
        (
            """stage s : fifo; stage d : delay; pool m { cap 1; } workload { arrive closed(60); }
            session { loop { run d (~exp(1)); hold m (1) { run s (~exp(1)); } } }""",
            "the queue of pool m",
        ),
    ],
)
def test_queues_are_named_too(text: str, variable: str | None) -> None:
    if variable is None:
        assert chain_of(text).size == 1
        return
    with pytest.raises(LimitError, match=variable):
        chain_of(text.replace("let N = 3", "let N = 60"), ExploreOptions(states=20))


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    options = ExploreOptions(progress=lambda found, done: told.append((found, done)), explorer="reference")
    text = """stage d : delay; workload { arrive closed(1); }
    session { set k = 0; loop { run d (~exp(1)); set k = (k + 1) % 2500; observe n = k; } }"""
    assert chain_of(text, options).size == 2500
    assert told == [(1001, 1000), (2001, 2000)]


def test_phase_type_work_for_fixed_work() -> None:
    text = QUEUE.replace("~exp(1 / mu)", "1 / mu")
    with pytest.raises(OutsideFragmentError):
        chain_of(text)
    chain = chain_of(text, ExploreOptions(phase_type=4))
    erlang = chain_of(QUEUE.replace("~exp(1 / mu)", "~erlang(4, 1 / mu)"))
    assert sorted(arcs(chain)) == sorted(arcs(erlang))
    assert "Erlang law of 4 phases" in chain.approximated[0].text
    assert erlang.approximated == ()


def test_fixed_work_of_different_lengths_is_told_apart() -> None:
    text = QUEUE.replace("~exp(1 / mu)", "~choice(1: 1, 2: 1)")
    chain = chain_of(text, ExploreOptions(phase_type=2))
    assert {s.value for s in chain.symbols} == {2, 1, Fraction(1, 4)}
    assert len(set(chain.states)) == chain.size


def test_irrational_parameters_are_reported() -> None:
    chain = chain_of(QUEUE.replace("~exp(1 / mu)", "~h2(1, 2)"))
    assert "~h2" in chain.approximated[0].text
    assert chain_of(QUEUE.replace("~exp(1 / mu)", "~h2(1, 17 / 8)")).approximated == ()
    branch = QUEUE.replace("run think", "branch (exp(-1)) { run svc (~exp(1)); } run think")
    assert "probability of a branch" in chain_of(branch).approximated[0].text


def test_equal_laws_with_different_names_keep_their_symbols() -> None:
    text = """let a = 2; let b = 2; stage d : delay; workload { arrive closed(1); }
    session { loop { run d (~exp(a)); run d (~exp(b)); } }"""
    assert {s.text for s in chain_of(text).symbols} == {"1 / a", "1 / b"}


def test_gauges_are_state_rewards() -> None:
    text = """stage svc : fifo; stage think : delay; pool m { cap inf; }
    gauge many = queue(svc) >= 1;  gauge left = work(svc);  gauge room = free(m);
    """ + LOOP.replace("closed(N)", "closed(2)").replace("1 / mu", "1").replace("Z", "1")
    chain = chain_of(text)
    mapped = {r.measure: not isinstance(r, Unmapped) for r in chain.ratios if r.measure.startswith("gauge")}
    assert mapped == {"gauge.many.mean": True, "gauge.left.mean": False, "gauge.room.mean": False}
    reasons = [r.reason for r in chain.ratios if isinstance(r, Unmapped)]
    assert ["unfinished work" in reasons[0], "inf" in reasons[1]] == [True, True]
    assert value(text, "gauge.many.mean") == value(text, "stage.svc.waiting")


def test_every_measure_is_answered_for() -> None:
    program = load_text(QUEUE).program
    assert [r.measure for r in explore(program).ratios] == [m.name for m in measures_of(program)]


def test_a_fault_in_a_reachable_state_is_the_programs() -> None:
    text = QUEUE.replace("run svc", "branch (queue(svc) / 2) { run svc (~exp(1)); } run svc")
    with pytest.raises(RunError) as caught:
        chain_of(text, N="6")
    assert caught.value.diagnostics[0].code == "SQ502"


def test_a_zero_time_loop_is_stopped() -> None:
    text = """stage d : delay; workload { arrive closed(1); }
    session { set w = ~bernoulli(0.5); loop { run d (w ? ~exp(1) : 0); } }"""
    with pytest.raises(RunError) as caught:
        chain_of(text)
    assert caught.value.diagnostics[0].code == "SQ509"


def test_no_work_is_done_at_once() -> None:
    text = QUEUE.replace("~exp(1 / mu)", "~bernoulli(0.5) ? ~exp(1) : 0").replace(
        "run think", "observe pass = 1; run think"
    )
    assert value(text, "stage.svc.throughput") == value(text, "observe.pass.rate") / 2


def test_nobody_arrives() -> None:
    chain = chain_of("stage d : delay; workload { arrive none; } session { run d (~exp(1)); }")
    assert chain.states == ("empty",)
    assert chain.transitions == ()


def test_hundreds_of_sessions() -> None:
    assert chain_of(QUEUE, N="150").size == 151


def test_only_quotients_that_the_program_gives_something_to_do_are_named() -> None:
    plain = chain_of("stage d : delay; workload { arrive closed(2); } session { loop { run d (~exp(1)); } }")
    assert [text.split(":")[0] for text in plain.lumped] == [
        "sessions are interchangeable",
        "jobs in service have no order",
    ]
    pinned = explore(load(find("lru_slot_pin").path).program)
    assert len(pinned.lumped) == 4


@pytest.mark.parametrize("stage", ["fifo", "ps(n / 2)"])
def test_an_event_with_too_many_outcomes_is_given_up(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three coins have 8 outcomes. Both explorers: what one compiles the other, which knows no `ps`, does not."""
    coins = "".join(f"set k{i} = ~bernoulli(0.5); " for i in range(3))
    total = " + ".join(f"k{i}" for i in range(3))
    text = f"stage s : {stage}; stage d : delay; workload {{ arrive closed(2); }}"
    text += f"session {{ loop {{ run s (~exp(1)); {coins} run d (~exp(1)); observe x = {total}; }} }}"
    program = load_text(text).program
    monkeypatch.setattr(enumerated, "MOST_OUTCOMES", 7)
    with pytest.raises(LimitError, match="one event has more than 7 outcomes"):
        explore(program)
    monkeypatch.setattr(enumerated, "MOST_OUTCOMES", 8)
    assert explore(program).size > 8


def test_a_loop_that_chance_alone_ends_is_not_gone_through_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumerated, "MOST_IN_A_ROW", 50)
    text = "pool k { cap 1; } stage s : fifo; workload { arrive closed(2); } "
    text += "session { loop { hold k (1) { branch (1/3) { run s (~exp(1)); } } } }"
    with pytest.raises(LimitError, match="more than 50 choices one after the other"):
        chain_of(text)
    assert chain_of(text.replace("branch (1/3) { run s (~exp(1)); }", "run s (~exp(1));")).size == 1
