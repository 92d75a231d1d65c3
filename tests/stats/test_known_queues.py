"""Simulated queues against numbers from the books, and intervals against their promise. Seeds are fixed.

`agrees` fails with probability 1e-4 per measure under another seed when the simulator is right.
"""

import math
from fractions import Fraction
from statistics import mean, stdev

import pytest
from running import options, program_of
from scipy.special import stdtr

from serq.semantics.estimate import estimate
from serq.semantics.replications import replicate
from serq.semantics.report import estimates_of, report_of
from serq.semantics.series import batches_of
from serq.semantics.summary import quantile

FALSE_ALARM = 1e-4


def simulated(text, replications, **changes):
    program = program_of(text)
    settings = options(program, checked=False, keep_samples=False, **changes)
    results = replicate(program, settings, replications)
    return results, {e.measure: e for e in estimates_of(program, results)}


def agrees(answer, exact):
    z = (float(answer.value) - float(exact)) / answer.standard_error
    p = 2 * float(stdtr(answer.degrees, -abs(z)))
    assert p > FALSE_ALARM, (
        f"{answer.measure}: {answer.value} +- {answer.standard_error}, exact {float(exact)}, z = {z:.2f}"
    )


def quantile_agrees(results, name, level, exact):
    """A t-test over the replications' own quantiles."""
    each = [quantile(sorted(r.samples[name].values), level) for r in results]
    t = (mean(each) - exact) / (stdev(each) / math.sqrt(len(each)))
    assert 2 * float(stdtr(len(each) - 1, -abs(t))) > FALSE_ALARM, f"{level}: {mean(each)}, exact {exact}, t = {t:.2f}"


FINITE_SOURCE = """stage svc : fifo; stage think : delay; workload {{ arrive closed(8); }}
session {{ loop {{ set t0 = now; run svc (~exp(1)); observe response = now - t0; run think (~exp(4)); }} }}
run {{ horizon {horizon}; warmup {warmup}; seed {seed}; }}"""
L, X = Fraction(69372, 16831), Fraction(16319, 16831)


def test_the_finite_source_queue():
    results, answers = simulated(FINITE_SOURCE.format(horizon=20000, warmup=200, seed=1), 6)
    known = {
        "stage.svc.number": L,
        "stage.svc.throughput": X,
        "stage.svc.utilisation": X,
        "stage.svc.busy": X,
        "stage.svc.waiting": L - X,
        "stage.svc.sojourn": L / X,
        "stage.svc.wait": L / X - 1,
        "stage.think.number": 8 - L,
        "stage.think.sojourn": 4,
        "observe.response.mean": L / X,
        "observe.response.rate": X,
    }
    for name, exact in known.items():
        agrees(answers[name], exact)
    for level, exact in ((0.5, 3.847566936), (0.95, 9.247727764), (0.99, 12.087391339)):
        quantile_agrees(results, "response", level, exact)


OPEN = """stage svc : {kind}; workload {{ arrive poisson({rate}); }}
session {{ set t0 = now; run svc ({work}); observe sojourn = now - t0; end; }}
run {{ horizon {horizon}; warmup 1000; seed {seed}; }}"""


def test_sojourns_in_mm1_are_exponential():
    """rho = 0.8: mean 5, squared coefficient of variation 1, quantiles of the exponential of rate 1/5."""
    text = OPEN.format(kind="fifo", rate=0.8, work="~exp(1)", horizon=21000, seed=16)
    results, answers = simulated(text, 8)
    agrees(answers["observe.sojourn.mean"], 5)
    agrees(answers["stage.svc.utilisation"], 0.8)
    agrees(answers["stage.svc.number"], 4)
    for level in (0.5, 0.9, 0.99):
        quantile_agrees(results, "sojourn", level, -5 * math.log(1 - level))
    program = program_of(text)
    summary = report_of(program, options(program), results).observes[0].summary
    assert summary.cv2 == pytest.approx(1, abs=0.1)


WORKS = {"exp": "~exp(1)", "det": "1", "h2": "~h2(1, 5)", "uniform": "~uniform(0, 2)", "erlang": "~erlang(3, 1)"}
CV2 = {"exp": 1, "det": 0, "h2": 5, "uniform": 1 / 3, "erlang": 1 / 3}


@pytest.mark.parametrize("law", ["det", "h2", "uniform"])
def test_processor_sharing_is_insensitive(law):
    """M/G/1-PS: the number present is geometric with mean rho / (1 - rho), whatever the law of the work."""
    text = OPEN.format(kind="ps(1)", rate=0.6, work=WORKS[law], horizon=16000, seed=3)
    _, answers = simulated(text, 4)
    agrees(answers["stage.svc.number"], 1.5)
    agrees(answers["observe.sojourn.mean"], 2.5)
    agrees(answers["stage.svc.utilisation"], 0.6)


@pytest.mark.parametrize("law", ["det", "h2", "erlang"])
def test_waits_in_mg1_are_pollaczek_khinchine(law):
    """W = lambda E[S^2] / (2 (1 - rho)) = rho (1 + cv2) / (2 (1 - rho)) for a mean service of 1."""
    text = OPEN.format(kind="fifo", rate=0.6, work=WORKS[law], horizon=16000, seed=4)
    _, answers = simulated(text, 4)
    wait = 0.6 * (1 + CV2[law]) / (2 * 0.4)
    agrees(answers["stage.svc.wait"], wait)
    agrees(answers["stage.svc.waiting"], 0.6 * wait)


def test_erlang_c_and_erlang_b():
    """Three servers at 2 Erlangs: P(wait) = 4/9, mean wait 4/9; with loss in place of waiting B = 4/19."""
    _, waiting = simulated(OPEN.format(kind="fifo(3)", rate=2, work="~exp(1)", horizon=9000, seed=5), 4)
    agrees(waiting["stage.svc.wait"], Fraction(4, 9))
    agrees(waiting["stage.svc.busy"], 2)
    loss = OPEN.format(kind="fifo(3)", rate=2, work="~exp(1)", horizon=9000, seed=6)
    _, lost = simulated(loss.replace("poisson(2)", "poisson(2) limit(3)"), 4)
    agrees(lost["sessions.losses"], 2 * Fraction(4, 19))
    agrees(lost["stage.svc.number"], 2 * (1 - Fraction(4, 19)))


def test_without_a_warm_up_averages_from_an_empty_start_are_low():
    """rho = 0.9, 200 windows of 200 from an empty start: far below the 10 of the steady state."""
    text = OPEN.format(kind="fifo", rate=0.9, work="~exp(1)", horizon=200, seed=15).replace("warmup 1000", "warmup 0")
    _, answers = simulated(text, 200)
    cold = answers["observe.sojourn.mean"]
    assert cold.value + 5 * cold.standard_error < 9


def test_intervals_of_short_runs_cover_as_they_say():
    """240 runs of M/M/1//8 over 900 time units, 95 % intervals for L from batch means, and from groups of replications.

    At a true coverage of 94 to 96 % the first bound fails with probability 2e-3, the second with 4e-3.
    """
    results, _ = simulated(FINITE_SOURCE.format(horizon=1000, warmup=100, seed=8), 240)

    def covered(groups, over):
        answers = [estimate("L", batches_of([r.series for r in g])["stage.svc.number"], 0.95, over) for g in groups]
        return mean(abs(a.value - float(L)) <= a.half_width for a in answers)

    assert 0.90 < covered([[r] for r in results], "batches") < 0.99
    fives = [results[i : i + 5] for i in range(0, 240, 5)]
    assert covered(fives, "replications") > 0.83
    assert covered(fives, "batches") > 0.83
    warm = [r.series["stage.svc.number"] for r in results]
    pooled = mean(sum(s.numerator) / sum(s.denominator) for s in warm)
    assert pooled == pytest.approx(float(L), abs=4 * stdev(sum(s.numerator) / 900 for s in warm) / math.sqrt(240))
