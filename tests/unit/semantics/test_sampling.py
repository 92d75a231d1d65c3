"""Draws against the moments that the laws have on paper. Seeds are fixed; the false-alarm rate is stated."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from serq.codegen.seeds import stream
from serq.ir.laws import ARITY, Law, mean, problem_of, second_moment, support
from serq.semantics.sampling import SAMPLERS

COUNT = 100_000
FALSE_ALARM = 1e-4
"""Per test, for another seed."""

LAWS = [
    Law("exp", (2.5,)),
    Law("det", (3.25,)),
    Law("uniform", (-1.0, 4.0)),
    Law("erlang", (3.0, 2.0)),
    Law("erlang", (1.0, 0.5)),
    Law("h2", (2.0, 17 / 8)),
    Law("h2", (1.0, 1.0)),
    Law("h2", (1.0, 20.0)),
    Law("bernoulli", (0.3,)),
    Law("bernoulli", (0.0,)),
    Law("bernoulli", (1.0,)),
    Law("geometric", (0.25,)),
    Law("geometric", (1.0,)),
    Law("geometric", (1e-6,)),
    Law("choice", (1.0, 1.0, 2.0, 3.0, 10.0, 1.0)),
    Law("choice", (1.0, 0.0, 5.0, 2.0, 7.0, 0.0)),
]


def draws(law, count=COUNT, seed=1):
    s = stream(seed, 0, "session", 0)
    return np.array([SAMPLERS[law.name](s, law.args) for _ in range(count)])


def z_score(sample, expected):
    deviation = sample.std(ddof=1)
    if deviation == 0:
        return 0.0 if sample[0] == pytest.approx(expected, rel=1e-15) else math.inf
    return (sample.mean() - expected) / deviation * math.sqrt(len(sample))


def test_every_law_has_a_sampler_and_valid_examples():
    assert set(SAMPLERS) == {*ARITY, "choice"}
    assert {law.name for law in LAWS} == set(SAMPLERS)
    assert all(problem_of(law) is None for law in LAWS)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_first_two_moments(law):
    sample = draws(law)
    limit = stats.norm.isf(FALSE_ALARM / 2)
    assert abs(z_score(sample, float(mean(law)))) < limit
    assert abs(z_score(sample**2, float(second_moment(law)))) < limit


@pytest.mark.parametrize("law", [x for x in LAWS if x.name in ("bernoulli", "choice", "det")], ids=str)
def test_finite_laws_have_their_probabilities(law):
    exact = Law(law.name, tuple(Fraction(a) for a in law.args))
    pairs = support(exact)
    sample = draws(law)
    seen = [int((sample == float(v)).sum()) for v, _ in pairs]
    assert sum(seen) == COUNT, "a value outside the support, or of weight 0, was drawn"
    if len(pairs) > 1:
        assert stats.chisquare(seen, [float(p) * COUNT for _, p in pairs]).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("law", "frozen"),
    [
        (Law("erlang", (3.0, 2.0)), stats.gamma(3, scale=2 / 3)),
        (Law("uniform", (-1.0, 4.0)), stats.uniform(-1, 5)),
        (Law("exp", (2.5,)), stats.expon(scale=2.5)),
    ],
    ids=["erlang", "uniform", "exp"],
)
def test_continuous_laws_have_their_distribution(law, frozen):
    assert stats.kstest(draws(law), frozen.cdf).pvalue > FALSE_ALARM


def test_h2_is_the_mixture_with_balanced_means():
    """cv2 = 17/8 gives p = 4/5 exactly: means 5/4 and 5 for a mean of 2."""

    def cdf(x):
        return 1 - 0.8 * np.exp(-x / 1.25) - 0.2 * np.exp(-x / 5)

    assert stats.kstest(draws(Law("h2", (2.0, 17 / 8))), cdf).pvalue > FALSE_ALARM


def test_geometric_counts_trials():
    sample = draws(Law("geometric", (0.25,)))
    assert sample.min() == 1
    assert (sample == np.floor(sample)).all()
    seen = [int((sample == k).sum()) for k in range(1, 20)] + [int((sample >= 20).sum())]
    expected = [COUNT * 0.25 * 0.75 ** (k - 1) for k in range(1, 20)] + [COUNT * 0.75**19]
    assert stats.chisquare(seen, expected).pvalue > FALSE_ALARM


def test_uniform_stays_in_its_interval():
    sample = draws(Law("uniform", (-1.0, 4.0)))
    assert (sample >= -1).all()
    assert (sample < 4).all()
    assert set(draws(Law("uniform", (2.0, 2.0)), 10)) == {2.0}


@pytest.mark.parametrize(
    ("law", "words"), [(Law("det", (1.0,)), 0), (Law("exp", (0.0,)), 1), (Law("h2", (0.0, 2.0)), 2)]
)
def test_the_number_of_words_taken_is_as_documented(law, words):
    ours, counted = stream(2, 0, "session", 0), stream(2, 0, "session", 0)
    SAMPLERS[law.name](ours, law.args)
    for _ in range(words):
        SAMPLERS["uniform"](counted, (0.0, 1.0))
    assert ours == counted
