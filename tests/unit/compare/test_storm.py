"""Storm against our own solvers and exports: identical rationals, and what happens when Storm fails."""

from dataclasses import replace
from fractions import Fraction

import hand_chains
import pytest

from serq.base.errors import LimitError, NoSteadyStateError
from serq.compare import storm, storm_process
from serq.compare.storm import (
    StormAnswer,
    StormFailure,
    check_drn,
    check_explicit,
    check_prism,
    drn_job,
    explicit_job,
    long_run,
    prism_job,
    run_storm,
    succeeded,
)
from serq.compare.storm_chain import solve_with_storm
from serq.compare.storm_process import StormError
from serq.exporters.drn import Drn
from serq.exporters.explicit import Explicit
from serq.exporters.names import NameMap, reserved_words
from serq.semantics.answers import answers, long_run_rates
from serq.semantics.solve import stationary

make = hand_chains.make_chain

QUEUE = """ctmc
const int N;
const double mu;
const double Z;
module queue
  n : [0..N] init 0;
  [] n<N -> (N-n)/Z : (n'=n+1);
  [] n>0 -> mu : (n'=n-1);
endmodule
label "full" = n=N;
rewards "number" true : n; endrewards
"""
"""M/M/1//N, written by hand."""


def random_chain(seed, size):
    return make(
        hand_chains.random_rows(seed, size),
        initial=seed % size,
        rewards={"n": range(size), "kv[0].used": [i % 3 for i in range(size)]},
        impulses={(i, j): {"passages": Fraction(i + j, 3)} for i in range(size) for j in range(size)},
        labels={"ma": [0], "last one": [size - 1]},
    )


REWARDS = {"n": "n", "kv[0].used": "kv_0_used", "passages": "passages"}
LABELS = {"ma": "ma_", "last one": "last_one"}
PROPERTIES = [*map(long_run, REWARDS.values()), *(f'S=? ["{label}"]' for label in LABELS.values())]
CASES = [(seed, size) for size in (2, 3, 5, 8, 13, 21) for seed in (1, 2, 3)]


def expected(chain):
    solution = stationary(chain, exact=True)
    rates = long_run_rates(chain, solution, list(REWARDS))
    labels = [sum(solution.probabilities[s] for s in chain.labels[label]) for label in LABELS]
    return (*(rates[name].value for name in REWARDS), *labels)


@pytest.fixture(scope="module")
def exports():
    """Every export of every case, read by Storm's exact engine, in one process."""
    chains = [random_chain(*case) for case in CASES]
    jobs = [
        job
        for chain in chains
        for job in (
            drn_job(Drn().emit(chain, "q")["q.drn"], PROPERTIES, distribution=True),
            explicit_job(Explicit("rational").emit(chain, "q"), PROPERTIES),
        )
    ]
    outcomes = run_storm(jobs)
    return {
        case: (chain, *outcomes[2 * i : 2 * i + 2]) for i, (case, chain) in enumerate(zip(CASES, chains, strict=True))
    }


@pytest.mark.parametrize("case", CASES)
def test_every_export_gives_identical_rationals(exports, case):
    chain, drn, explicit = exports[case]
    assert succeeded(drn).values == succeeded(explicit).values == expected(chain)
    assert drn.states == explicit.states == chain.size
    assert drn.distribution == stationary(chain, exact=True).probabilities


def test_a_wrong_rate_is_noticed():
    """One rate off by a millionth gives other rationals in every format."""
    chain = random_chain(1, 8)
    first, *others = chain.transitions
    wrong = replace(chain, transitions=(replace(first, rate=first.rate * Fraction(10**6 + 1, 10**6)), *others))
    drn, explicit = run_storm(
        [
            drn_job(Drn().emit(wrong, "q")["q.drn"], PROPERTIES),
            explicit_job(Explicit("rational").emit(wrong, "q"), PROPERTIES),
        ]
    )
    assert drn.values == explicit.values == expected(wrong)
    assert drn.values != expected(chain)


def test_decimal_files_are_exact_where_the_numbers_are_decimal():
    chain = hand_chains.finite_source(5, mu=Fraction(3, 4), think=Fraction(1, 8))
    got = check_explicit(Explicit("decimal").emit(chain, "q"), [long_run("stage_svc_number")])
    want = long_run_rates(chain, stationary(chain, exact=True), ["stage.svc.number"])
    assert got.values == (want["stage.svc.number"].value,)


def test_a_random_start_changes_no_long_run_value():
    chain = make([{1: 1}, {0: 2}, {1: 1}], initial={0: Fraction(1, 3), 2: Fraction(2, 3)}, rewards={"n": [1, 0, 5]})
    got = check_drn(Drn().emit(chain, "q")["q.drn"], [long_run("n")])
    assert got.values == (Fraction(2, 3),)
    assert got.states == 4


def test_an_absorbing_chain_drains_in_eleven_sixths():
    chain = make(
        [{1: 3}, {2: 2}, {3: 1}, {}],
        impulses={(i, i + 1): {"done": Fraction(1)} for i in range(3)},
        labels={"empty": [3]},
    )
    wanted = ['T=? [ F "empty" ]', 'R{"done"}=? [ F "empty" ]', long_run("done"), 'S=? [ "empty" ]']
    drn, explicit = run_storm(
        [drn_job(Drn().emit(chain, "q")["q.drn"], wanted), explicit_job(Explicit("rational").emit(chain, "q"), wanted)]
    )
    assert drn.values == explicit.values == (Fraction(11, 6), 3, 0, 1)


# -- PRISM texts ------------------------------------------------------------------------------------------------------


def test_a_prism_text_with_open_constants_gives_the_rationals_of_the_chain():
    cases = [(n, mu, z) for n in (1, 2, 8) for mu, z in ((Fraction(1), Fraction(4)), (Fraction(4, 3), Fraction(1, 7)))]
    jobs = [prism_job(QUEUE, {"N": n, "mu": mu, "Z": z}, [long_run("number"), "S=? [ n>1 ]"]) for n, mu, z in cases]
    for (n, mu, z), answer in zip(cases, run_storm(jobs), strict=True):
        probabilities = stationary(hand_chains.finite_source(n, mu, z), exact=True).probabilities
        assert answer.states == n + 1
        assert answer.values == (sum(i * p for i, p in enumerate(probabilities)), sum(probabilities[2:]))
    assert cases[4] == (8, 1, 4)
    assert run_storm(jobs[4:5])[0].values[0] == Fraction(69372, 16831)


def test_doubles_are_doubles_and_say_so():
    answer = check_prism(QUEUE, {"N": 3, "mu": 1, "Z": 4}, [long_run("number"), 'P=? [ F<=1 "full" ]'], exact=False)
    assert all(isinstance(value, float) for value in answer.values)
    assert answer.values[0] == pytest.approx(57 / 71, rel=1e-12)
    assert "doubles" in answer.engine
    assert "exact" not in answer.engine


SWITCH = """ctmc
const double CONSTANT;
module m
  VARIABLE : [0..1] init 0;
  [] VARIABLE=0 -> CONSTANT : (VARIABLE'=1);
  [] VARIABLE=1 -> 1 : (VARIABLE'=0);
endmodule
label "LABEL" = VARIABLE=1;
rewards "REWARD" VARIABLE=1 : 2; endrewards
"""


@pytest.mark.parametrize("behind", ["", "x"])
def test_reserved_words_do_pass_as_identifiers_after_mangling(behind):
    """Each word, and each with a letter behind it, as a constant, a variable, a label and a reward at once."""
    words = [word + behind for word in sorted(reserved_words())]
    jobs = []
    for word in words:
        names, text = NameMap(), SWITCH
        given = {kind: names.identifier(word, kind) for kind in ("CONSTANT", "VARIABLE", "LABEL", "REWARD")}
        for kind, identifier in given.items():
            text = text.replace(kind, identifier)
        wanted = [long_run(given["REWARD"]), f'S=? [ "{given["LABEL"]}" ]', f"S=? [ {given['VARIABLE']}=1 ]"]
        jobs.append(prism_job(text, {given["CONSTANT"]: Fraction(1, 2)}, wanted))
    for word, answer in zip(words, run_storm(jobs), strict=True):
        assert succeeded(answer).values == (Fraction(2, 3), Fraction(1, 3), Fraction(1, 3)), word


@pytest.mark.parametrize("word", ["ma", "smg", "init", "module"])
def test_a_reserved_word_as_it_stands_is_refused(word):
    with pytest.raises(StormError):
        check_prism(QUEUE.replace("n : ", f"{word} : ").replace("n'", f"{word}'"), {"N": 2, "mu": 1, "Z": 1}, [])


def test_an_update_out_of_range_is_refused_and_does_not_wrap():
    text = "ctmc\nmodule m\n  n : [0..3] init 0;\n  [] n<=3 -> 1 : (n'=n+1);\n  [] n>0 -> 2 : (n'=n-1);\nendmodule\n"
    with pytest.raises(StormError, match="out-of-bounds"):
        check_prism(text, {}, ["S=? [ n=0 ]"])


# -- chains by Storm ---------------------------------------------------------------------------------------------------


def test_storm_solves_a_chain_in_rationals():
    chain = hand_chains.finite_source(8)
    solved = solve_with_storm(chain)
    assert solved.solution.probabilities == stationary(chain, exact=True).probabilities
    assert "exact engine" in solved.solution.method
    assert [e.value for e in solved.estimates] == [e.value for e in answers(chain, stationary(chain, exact=True))]
    assert solved.estimates[0].value == Fraction(69372, 16831)


def test_storm_solves_a_larger_chain_in_doubles_and_claims_no_bound():
    chain = make(hand_chains.tandem(30), rewards={"n": [1] * 496})
    solution = solve_with_storm(chain).solution
    ours = stationary(chain, exact=False)
    assert solution.bound is None
    assert "doubles" in solution.method
    assert "Storm gives no error" in solution.checks[0]
    assert sum(abs(a - b) for a, b in zip(solution.probabilities, ours.probabilities, strict=True)) < 1e-12


def test_storm_solves_a_stiff_chain():
    rare = Fraction(1, 10**6)
    chain = make([{1: 1}, {0: 1 - rare, 2: rare}, {0: rare}])
    assert solve_with_storm(chain).solution.probabilities == (Fraction(1, 3),) * 3
    assert solve_with_storm(chain, exact=False).solution.probabilities == pytest.approx([1 / 3] * 3, rel=1e-9)


def test_storm_is_not_asked_about_a_chain_without_a_steady_state():
    with pytest.raises(NoSteadyStateError):
        solve_with_storm(make([{1: 1}, {}]))


@pytest.mark.parametrize("exact", [True, False])
def test_a_wrong_answer_of_storm_is_not_passed_on(monkeypatch, exact):
    wrong = StormAnswer((), 2, 2, "Storm", (Fraction(3, 5), Fraction(1, 2)))
    monkeypatch.setattr("serq.compare.storm_chain.run_storm", lambda jobs, timeout: [wrong])
    with pytest.raises(StormError):
        solve_with_storm(make([{1: 1}, {0: 1}]), exact=exact)


# -- failures ---------------------------------------------------------------------------------------------------------

DIES = """@type: CTMC
@reward_models
n
@nr_states
2
@nr_choices
2
@model
state 0 !1 [1] init
\taction 0
\t\t1 : 1
state 1 !0 [0] end
\taction 0
"""
"""Storm's exact engine divides by the exit rate 0 and takes its process along."""


def test_a_job_that_kills_storm_fails_alone():
    good = prism_job(QUEUE, {"N": 1, "mu": 1, "Z": 1}, [long_run("number")])
    first, crash, last = run_storm([good, drn_job(DIES, ['R{"n"}=? [ F "end" ]']), good])
    assert first == last
    assert first.values == (Fraction(1, 2),)
    assert isinstance(crash, StormFailure)
    assert crash.kind == "crash"
    assert "died" in crash.reason


def test_a_job_that_takes_too_long_is_ended_and_the_rest_goes_on():
    slow = prism_job(QUEUE, {"N": 10**7, "mu": 1, "Z": 1}, [long_run("number")])
    quick = prism_job(QUEUE, {"N": 1, "mu": 1, "Z": 1}, [long_run("number")])
    late, fine = run_storm([slow, quick], timeout=2)
    assert isinstance(late, StormFailure)
    assert (late.kind, late.reason) == ("timeout", "no answer within 2 s")
    assert fine.values == (Fraction(1, 2),)
    with pytest.raises(LimitError, match="no answer within 2 s"):
        succeeded(late)


def test_a_job_that_takes_too_much_memory_fails():
    (failure,) = run_storm([prism_job(QUEUE, {"N": 10**7, "mu": 1, "Z": 1}, [])], memory=220 << 20)
    assert isinstance(failure, StormFailure)
    assert failure.kind in ("memory", "crash")


@pytest.mark.parametrize(
    ("constants", "properties", "said"),
    [
        ({"N": 1, "mu": 1}, [], "undefined constants: Z"),
        ({"N": 1, "mu": 1, "Z": 1, "foo": 2}, [], "unknown undefined constant 'foo'"),
        ({"N": Fraction(1, 2), "mu": 1, "Z": 1}, [], "integer constant"),
        ({"N": 1, "mu": 1, "Z": 1}, [long_run("nobody")], "nobody"),
        ({"N": 1, "mu": 1, "Z": 1}, ['P=? [ F<=1 "full" ]'], "exact engine gives no number"),
        ({"N": 1, "mu": 1, "Z": 1}, ['P>=0.5 [ F "full" ]'], "exact engine gives no number"),
        ({"N": 1, "mu": 1, "Z": 1}, ["nonsense"], "WrongFormat"),
    ],
)
def test_what_storm_refuses_is_an_error_that_says_why(constants, properties, said):
    with pytest.raises(StormError, match=said):
        check_prism(QUEUE, constants, properties)


@pytest.mark.parametrize(
    ("wanted", "value", "rewards_from", "trusted"),
    [
        ("S=? [ n=0 ]", 1.157827, 0.0, False),
        ('P=? [ F "x" ]', -0.99, 0.0, False),
        ('R{"n"}=? [ S ]', -12.85, 0.0, False),
        ('R{"n"}=? [ S ]', float("nan"), 0.0, False),
        ('R{"n"}=? [ S ]', -12.85, -20.0, True),
        ('R{"n"}=? [ S ]', 12.85, 0.0, True),
        ("S=? [ n=0 ]", 1 + 1e-12, 0.0, True),
    ],
)
def test_impossible_numbers_are_not_trusted(wanted, value, rewards_from, trusted):
    message = {
        "ok": True,
        "values": [repr(value)],
        "states": 1,
        "transitions": 1,
        "rewards_from": rewards_from,
        "distribution": None,
    }
    outcome = storm._outcome(prism_job("", {}, [wanted], exact=False), message)
    assert isinstance(outcome, StormAnswer) == trusted


def test_a_missing_storm_is_named(monkeypatch):
    def missing(name):
        raise storm_process.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(storm_process.importlib.metadata, "version", missing)
    with pytest.raises(StormError, match="not installed: pip install"):
        run_storm([])


def test_a_storm_of_another_line_is_named(monkeypatch):
    monkeypatch.setattr(storm_process.importlib.metadata, "version", lambda name: "1.9.0")
    with pytest.raises(StormError, match=r"stormpy 1\.9\.0 is installed"):
        check_drn("", [])


def test_an_interrupt_takes_the_process_along(monkeypatch):
    started = []

    class Recorder(storm_process.subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    def interrupt(self, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(storm_process.subprocess, "Popen", Recorder)
    monkeypatch.setattr(storm_process._Lines, "next", interrupt)
    with pytest.raises(KeyboardInterrupt):
        check_prism(QUEUE, {"N": 1, "mu": 1, "Z": 1}, [])
    assert [process.poll() for process in started] == [-9]


def test_a_worker_that_does_not_start_is_an_error(monkeypatch):
    monkeypatch.setattr(storm_process.sys, "executable", "/bin/false")
    with pytest.raises(StormError, match="does not start"):
        check_prism(QUEUE, {"N": 1, "mu": 1, "Z": 1}, [])
