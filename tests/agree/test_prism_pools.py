"""Pools as counters: the PRISM text and the JANI, written once with their constants open, against the explorer.

Storm's exact engine must give the explorer's rationals for every measure, at every size; what has no counters says why.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import counted_pools
import pooled_chains
import pytest
from exported import exact_answers, jani_job_of, measures_of, prism_job_of

from serq import models
from serq.base.errors import LimitError, NoSteadyStateError
from serq.compare.storm import StormAnswer, StormFailure, check_prism, long_run, run_storm, succeeded
from serq.exporters.errors import NotSymbolicError
from serq.exporters.prism import Prism, PrismExport
from serq.ir.program import Program
from serq.pipeline import load, load_text

PROGRAMS = Path(__file__).parents[1] / "data" / "values" / "programs"
Sets = Mapping[str, str]

SIZES: Mapping[str, tuple[Sets, tuple[Sets, ...]]] = {
    "lru": ({}, tuple({"N": str(n), "C": str(c)} for n, c in ((2, 1), (3, 1), (3, 2), (4, 3), (5, 3), (6, 2), (6, 4)))),
    "lru_ps": ({}, tuple({"N": str(n), "C": str(c)} for n, c in ((3, 2), (4, 2), (6, 3), (8, 5)))),
    "lru_slot_pin": ({}, ({"N": "4", "C": "3"}, {"N": "4", "C": "2"}, {"N": "5", "C": "3"})),
    "amp": ({"N": "6", "C": "6"}, ({"N": "5", "C": "3"}, {"N": "6", "C": "6"}, {"N": "4", "C": "9"})),
    "amp_ps": ({"N": "6", "C": "6"}, ({"N": "5", "C": "3"}, {"N": "6", "C": "6"}, {"N": "7", "C": "9"})),
    "pool2": ({}, ({"N": "3", "C": "2"}, {"N": "4", "C": "3"}, {"N": "5", "C": "5"})),
}
"""Model -> the constants at which it is exported, and those at which it is read."""


def program(name: str, sets: Sets) -> Program:
    model = models.find(name)
    return load(PROGRAMS / f"{name}.sq" if model is None else model.path, dict(sets)).program


def compared(export: PrismExport, instance: Program, answer: StormAnswer | StormFailure) -> int:
    """How many measures both gave; they are equal."""
    exact = exact_answers(instance)
    assert exact is not None
    storm = measures_of(export, succeeded(answer))
    for name in sorted(storm.keys() & exact.keys()):
        assert storm[name] == exact[name], name
    return len(storm.keys() & exact.keys())


def test_a_text_written_for_a_cache_that_all_fit_into_holds_for_smaller_ones() -> None:
    export = Prism().export(program("lru", {"N": "2", "C": "5"}))
    sizes = ((2, 5), (1, 1), (2, 2), (3, 2), (5, 3), (4, 4))
    cases = [program("lru", {"N": str(n), "C": str(c)}) for n, c in sizes]
    for case, answer in zip(cases, run_storm([prism_job_of(export, case) for case in cases]), strict=True):
        assert compared(export, case, answer) >= 20


@pytest.mark.parametrize("name", SIZES)
def test_models_with_pools_leave_their_sizes_open(name: str) -> None:
    base, sizes = SIZES[name]
    export = Prism().export(program(name, base))
    assert {export.names.named(i).name for i in export.open_constants} >= {"N", "C"}
    assert "\nctmc\n" in export.model
    cases = [program(name, {**base, **sets}) for sets in sizes]
    jobs = [prism_job_of(export, case) for case in cases] + [jani_job_of(export, case) for case in cases[:2]]
    answers = run_storm(jobs)
    for case, answer in zip(cases, answers, strict=False):
        assert compared(export, case, answer) >= 20
    for prism, jani in zip(answers, answers[len(cases) :], strict=False):
        assert succeeded(jani).values == succeeded(prism).values


def test_a_cache_as_large_as_the_population_is_another_program() -> None:
    """With C >= N nobody is ever evicted; the text for C < N says so and no tool accepts it."""
    export = Prism().export(program("lru", {}))
    assert "// Valid for C_ >= 1 and C_ < N; other constants are refused." in export.model
    for sets in ({"N": "3", "C": "3"}, {"N": "3", "C": "4"}):
        case = program("lru", sets)
        for outcome in run_storm([prism_job_of(export, case), jani_job_of(export, case)]):
            assert isinstance(outcome, StormFailure), sets
    with_open_sessions = Prism(keep_open=frozenset({"N"})).export(program("lru", {}))
    assert "// Valid for C_ < N; other constants are refused." in with_open_sessions.model
    (outcome,) = run_storm([prism_job_of(with_open_sessions, program("lru", {"N": "3", "C": "3"}))])
    assert isinstance(outcome, StormFailure)
    roomy = program("lru", {"N": "3", "C": "4"})
    export = Prism().export(roomy)
    cases = [roomy, program("lru", {"N": "4", "C": "2"})]
    for case, answer in zip(cases, run_storm([prism_job_of(export, case) for case in cases]), strict=True):
        assert compared(export, case, answer) > 20


CACHE = """let N = 4; let K = 2; let M = 3; let q = 0.4; let D = 4; stage svc : ps(1); stage think : delay;
pool kv { cap CAP; } pool slots { cap M; } workload { arrive closed(N); }
session { loop { set t = now; BODY observe r = now - t; run think (~exp(4)); } } run { horizon 1; }"""
HOLD = "hold kv (1) { run svc (~exp(cached ? 1 : 3)); } cache (1);"
FIXED_CAPS = {
    "literal": ("2", HOLD, "2 < N", ""),
    "set aside": ("K", HOLD, "K < N", "K"),
    "two pools": ("K", f"hold slots (1) {{ {HOLD} }}", "K < N", "K, M"),
    "half": ("D / 2", HOLD, "2 < N", "D"),
    "half of a let": ("H", HOLD, "2 < N", "D, H"),
    "not always whole": ("0.5 * D", HOLD, "2 < N", "D"),
}
"""Cap and body, then the condition and the constants that are fixed."""


def cached(cap: str, body: str, sets: Sets) -> Program:
    text = CACHE.replace("CAP", cap).replace("BODY", body)
    return load_text(text.replace("let D = 4;", "let D = 4; let H = D / 2;"), overrides=dict(sets)).program


@pytest.mark.parametrize("name", FIXED_CAPS)
def test_too_few_sessions_for_a_cap_that_is_fixed_are_refused(name: str) -> None:
    cap, body, condition, fixed = FIXED_CAPS[name]
    keep = frozenset({"N"}) if name == "set aside" else None
    export = Prism(keep_open=keep).export(cached(cap, body, {}))
    assert export.counters.requires == (condition,)
    assert f"// Valid for {condition}; other constants are refused.\n" in export.model
    assert name == "set aside" or not fixed or f"depends on them: {fixed}.\n" in export.model
    cases = [cached(cap, body, {"N": n}) for n in ("3", "2", "1")]
    right, *few = run_storm([job_of(export, case) for case in cases for job_of in (prism_job_of, jani_job_of)][1:])
    assert compared(export, cases[0], right) > 20
    assert all(isinstance(outcome, StormFailure) for outcome in few)


def test_a_cache_that_nobody_comes_to_fill_is_another_program() -> None:
    """The text begins with what the cache holds once all have come there; who never holds anything fills none."""
    sometimes = f"branch (q) {{ {HOLD} }}"
    export = Prism().export(cached("K", sometimes, {}))
    assert export.counters.requires == ("q > 0", "K >= 1", "K < N")
    cases = [cached("K", sometimes, {"q": q}) for q in ("1", "0.75", "0")]
    jobs = [job_of(export, case) for case in cases for job_of in (prism_job_of, jani_job_of)]
    answers = run_storm(jobs)
    for case, answer in zip((cases[0], cases[0], cases[1], cases[1]), answers, strict=False):
        assert compared(export, case, answer) > 20
    assert all(isinstance(outcome, StormFailure) for outcome in answers[4:])
    rarely = f"branch (1 - q) {{ observe idle = 1; }} else {{ {HOLD} }}"
    assert Prism().export(cached("K", rarely, {})).counters.requires == ("1 - q < 1", "K >= 1", "K < N")
    either = f"branch (q) {{ {HOLD} }} else {{ hold kv (1) {{ run svc (~exp(2)); }} cache (1); }}"
    assert (
        "// Valid for K >= 1 and K < N; other constants are refused." in Prism().export(cached("K", either, {})).model
    )


def test_a_cache_that_is_filled_when_others_let_it_has_no_counters() -> None:
    """Never here, where 3 units are free of 2: no cache, while the text would begin with a full one."""
    with pytest.raises(NotSymbolicError, match="a cache that every session comes to fill, whatever the others do"):
        Prism().export(cached("K", f"branch (free(kv) > 2) {{ {HOLD} }}", {}))


def test_the_hit_ratio_of_a_cache_of_a_size_that_nobody_exported() -> None:
    """30 sessions and 3 units: no chain was explored for it. Little's law ties two rewards to each other."""
    export = Prism().export(program("lru_ps", {}))
    constants = {"N": 12, "C_": 5, "s_hit": Fraction(1), "s_miss": Fraction(3), "Z": Fraction(4)}
    rewards = [long_run(r) for r in ("number_think", "completed_think", "sum_hit", "count_hit")]
    number, rate, hits, holds = check_prism(export.model, constants, rewards).values
    assert number == rate * 4
    assert 0 < hits < holds == rate


SERVED_SOMETIMES = """let N = 3; let C = 1; let mu = 2; stage svc : fifo; stage think : delay; pool kv { cap C; }
workload { arrive closed(N); }
session { loop {
  set t = now; WISH hold kv (UNITS) { BODY } CACHE observe r = now - t; run think (~exp(1));
} }
run { horizon 1; }"""
UNROLLED_WITHOUT_END = {
    "a miss takes no time": {"BODY": "branch (cached) { run svc (~exp(1 / mu)); }", "CACHE": "cache (1);"},
    "half of the holds take no time": {"BODY": "branch (0.5) { run svc (~exp(1 / mu)); } else { observe idle = 2; }"},
    "holds of two sizes": {
        "WISH": "set w = ~choice(1: 1, 2: 1);", "UNITS": "w", "BODY": "branch (0.5) { run svc (~exp(1 / mu)); }",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", UNROLLED_WITHOUT_END)
def test_admissions_without_end_are_immediate_transitions_of_an_automaton(name: str) -> None:
    text = SERVED_SOMETIMES
    for place, code in ({"WISH": "", "UNITS": "1", "CACHE": ""} | UNROLLED_WITHOUT_END[name]).items():
        text = text.replace(place, code)
    own = {"C": "2"} if name == "holds of two sizes" else {}
    export = Prism().export(load_text(text, overrides=own).program)
    assert "\nma\n" in export.model
    assert len(export.commands) == 1, "PRISM does not read it"
    cases = [load_text(text, overrides=sets).program for sets in ({"N": "3", "C": "2"}, {"N": "5", "C": "3"})]
    for case, answer in zip(cases, run_storm([prism_job_of(export, case) for case in cases]), strict=True):
        assert compared(export, case, answer) >= 22
    with pytest.raises(NotSymbolicError, match="more than 12 holds can be admitted at one instant"):
        Prism(immediate=False).export(cases[0])


SEEDS = range(40)
LARGEST = 90
_OTHER = ("large", "several closed classes")


@pytest.mark.parametrize("generator", [counted_pools, pooled_chains], ids=lambda module: module.__name__)
def test_a_generated_program_with_pools_is_written_right_or_says_why_not(generator) -> None:
    cases, reasons = [], Counter[str]()
    for seed in SEEDS:
        text = generator.program(seed)
        instance = load_text(text).program
        try:
            export = Prism().export(instance)
        except NotSymbolicError as error:
            reasons |= Counter(d.message for d in error.diagnostics)
            continue
        try:
            if exact_answers(instance, LARGEST) is not None:
                cases.append((seed, instance, export))
        except LimitError:
            reasons["large"] += 1
        except NoSteadyStateError:
            reasons["several closed classes"] += 1
    answers = run_storm([prism_job_of(export, instance) for _, instance, export in cases])
    total = 0
    for (seed, instance, export), answer in zip(cases, answers, strict=True):
        try:
            total += compared(export, instance, answer)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{generator.program(seed)}") from error
    assert all(" has no form with counters: " in reason for reason in reasons if reason not in _OTHER), reasons
    assert len(cases) > (len(SEEDS) // 2 if generator is counted_pools else 1), reasons
    assert total > 20 * len(cases)
