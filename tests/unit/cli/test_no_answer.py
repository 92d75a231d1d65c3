"""Programs that have no steady state or no finite chain: status 1 with every reason, or 4 at a limit."""

import pytest

OVERLOAD = """stage svc : fifo;
workload { arrive poisson(2); }
session { set t0 = now; run svc (~exp(1)); observe r = now - t0; }
run { horizon 300; }
"""
BATCH = """stage d : delay;
workload { arrive batch(3); }
session { set t = now; run d (~exp(1)); observe x = now - t; end; }
run { horizon 300; }
"""
DEADLOCK = """pool a { cap 1; }
pool b { cap 1; }
stage d : delay;
workload { arrive closed(2); }
session {
  loop {
    branch (0.5) {
      hold a (1) { run d (~exp(1)); hold b (1) { run d (~exp(1)); observe x = 1; } }
    } else {
      hold b (1) { run d (~exp(1)); hold a (1) { run d (~exp(1)); } }
    }
  }
}
run { horizon 300; }
"""
TWO_FATES = """stage d : delay;
workload { arrive closed(1); }
session { branch (0.5) { loop { run d (~exp(1)); observe x = 1; } } else { loop { run d (~exp(2)); } } }
run { horizon 300; }
"""
GROWING = """stage d : delay;
workload { arrive closed(1); }
session { set k = 0; loop { set k = k + 1; run d (~exp(k)); observe x = k; } }
run { horizon 300; }
"""
CASES = {
    "overload": (OVERLOAD, "SQ653", "there is no steady state: sessions arrive at rate", "2:27"),
    "batch": (BATCH, "SQ650", "all sessions end with probability 1, after a mean time of 11/6", ""),
    "deadlock": (DEADLOCK, "SQ651", "comes to rest for ever with sessions waiting", ""),
    "several classes": (TWO_FATES, "SQ652", "2 closed classes", ""),
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_solve_says_why_there_is_no_steady_state(serq, write, case) -> None:
    text, code, said, place = CASES[case]
    done = serq("solve", write(text))
    assert (done.status, done.out) == (1, "")
    assert f"error[{code}]" in done.err
    assert said in done.err
    assert f"program.sq:{place}" in done.err
    assert "hint:" in done.err


@pytest.mark.parametrize("case", CASES, ids=str)
def test_check_says_so_too_and_does_not_agree(serq, write, case) -> None:
    text, _, said, _ = CASES[case]
    done = serq("check", write(text), "--jobs", 1)
    assert done.status == 1
    assert said in done.out
    assert "NOTHING TO COMPARE" in done.out


@pytest.mark.parametrize("case", CASES, ids=str)
def test_run_still_runs_and_fails_where_it_gets_stuck(serq, write, case) -> None:
    assert serq("run", write(CASES[case][0])).status == (5 if case == "deadlock" else 0)


def test_a_run_says_that_an_overloaded_queue_grows_and_that_a_deadlock_is_stuck(serq, write) -> None:
    assert "growing: no steady state" in serq("run", write(OVERLOAD)).out
    assert "stuck: nothing can happen any more" in serq("run", write(DEADLOCK)).out
    assert "drained" in serq("run", write(BATCH)).out


def test_explain_prints_every_reason_and_solve_prints_the_same(serq, write) -> None:
    path = write(
        "stage d : delay; workload { arrive poisson(1); }\n"
        "session { set x = ~exp(1);\n run d (2);\n branch (x > 1) { run d (~uniform(0, 1)); observe y = x; } }"
    )
    explained, solved = serq("explain", path), serq("solve", path)
    assert (explained.status, solved.status) == (1, 1)
    assert explained.out == solved.err
    for code in ("SQ612", "SQ601", "SQ604", "SQ602"):
        assert f"error[{code}]" in explained.out
    reasons = serq("explain", path, "--json").data
    assert reasons["markov"] is False
    assert {r["code"] for r in reasons["reasons"]} == {"SQ612", "SQ601", "SQ604", "SQ602"}
    assert all(r["line"] and r["column"] for r in reasons["reasons"])


@pytest.mark.parametrize("verb", [("solve",), ("explain",), ("export", "--drn"), ("price", "--to", "N=3")])
def test_the_state_limit_says_how_many_were_found_and_what_grows(serq, write, verb) -> None:
    done = serq(*verb, write("let N = 2;" + GROWING), "--max-states", 50)
    assert (done.status, done.out) == (4, "")
    assert "the chain has more than 50 states (51 were found)" in done.err
    assert "attribute k takes the most values, 51 so far" in done.err


VERBS = [("run",), ("run", "--engine", "reference"), ("solve",), ("explain",), ("check", "--jobs", 1)]


@pytest.mark.parametrize("verb", VERBS, ids=str)
def test_sessions_without_room_are_refused_before_they_are_made(serq, write, verb, monkeypatch) -> None:
    monkeypatch.setattr("serq.semantics.memory.memory_of_machine", lambda: 400 << 20)
    done = serq(verb[0], write("let N = 2;" + GROWING.replace("closed(1)", "closed(N)")), "--set", "N=1e6", *verb[1:])
    assert (done.status, done.out) == (4, "")
    assert "1000000 sessions at time 0 take" in done.err
    assert "100 MiB are allowed" in done.err


def test_the_state_limit_in_json(serq, write) -> None:
    error = serq("solve", write(GROWING), "--max-states", 50, "--json").data["error"]
    assert (error["kind"], error["exit_status"]) == ("LimitError", 4)
    assert "51 were found" in error["message"]


def test_a_check_without_its_chain_goes_on_with_the_formula(serq, write) -> None:
    done = serq("check", write(), "--max-states", 2, "--jobs", 1)
    assert done.status == 0
    assert "more than 2 states" in done.out
    assert "AGREES" in done.out


def test_an_open_program_is_solved_up_to_a_limit(serq, write) -> None:
    done = serq("solve", write(OVERLOAD), "--limit", 5, "--json")
    assert done.status == 0
    assert done.data["truncated"] == ["an arrival that finds 5 sessions present is lost; sessions.losses is their rate"]
    assert done.data["measures"]["sessions.losses"]["exact"] == "64/63"


def test_a_limit_holds_for_every_witness_of_a_check(serq, write) -> None:
    done = serq("check", write(OVERLOAD), "--limit", 5, "--jobs", 1, "--json")
    losses = done.data["measures"]["sessions.losses"]
    assert losses["exact"]["exact"] == losses["closed_form"]["exact"] == "64/63"
    assert abs(losses["simulated"]["value"] - 64 / 63) < 5 * losses["simulated"]["standard_error"]
    assert done.status == 0


def test_fixed_work_becomes_phases_when_asked_and_the_answer_says_so(serq, write) -> None:
    path = write("stage s : ps(1); workload { arrive closed(1); } session { loop { run s (2); observe x = 1; } }")
    assert serq("solve", path).status == 1
    done = serq("solve", path, "--phase-type", 4)
    assert done.status == 0
    assert "approximated: an Erlang law of 4 phases and the same mean stands for fixed work" in done.out


def test_the_price_of_an_open_program_takes_the_limit_that_the_refusal_names(serq) -> None:
    change = ("price", "mm1", "--from", "mu=1", "--to", "mu=0.9")
    assert "price at svc: 4 = 4 jobs present (exact; the closed form agrees)" in serq(*change).out
    refused = serq("price", "hit_miss", "--from", "h=0.75", "--to", "h=0.7")  # two kinds of turns wait in one line
    assert refused.status == 1
    assert "--limit K" in refused.err
    limited = serq(*change, "--limit", 1)  # M/M/1/1: lam / (lam + mu) jobs, lam = 0.8
    assert "price at svc: 4/153 = " in limited.out
    assert "the closed form agrees" in limited.out


QUEUE = """let lam = 0.5;
stage s : fifo;
workload { arrive poisson(lam); }
session { set t = now; run s (~exp(1)); observe x = now - t; }
run { horizon 300; }
"""


@pytest.mark.parametrize(
    ("verb", "options", "said"),
    [
        (
            "solve",
            ["--derivative", "lam"],
            "a derivative (in `lam`) needs a finite chain; without a limit `serq solve`",
        ),
        ("solve", ["--symbolic"], "`serq closed-form` has those"),
        ("solve", ["--transient", "3"], "some states are entered, needs a finite chain"),
        ("price", ["--do", "work := 0"], "its price by simulation does not"),
        ("export", ["--drn"], "an export needs a finite chain"),
    ],
)
def test_it_is_the_question_that_needs_a_finite_chain(serq, write, verb, options, said):
    done = serq(verb, write(QUEUE), *options)
    assert done.status == 1
    assert said in done.err
    assert "--limit K" in done.err
