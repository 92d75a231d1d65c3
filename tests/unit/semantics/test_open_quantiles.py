"""Quantiles of the number present in open queues: by generating functions in rationals, and by chains with a limit."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import accumulate

import pytest

from serq.ir.measures import QUANTILES
from serq.pipeline import SolveOptions, load_text, solve
from serq.semantics.answers import marginal
from serq.semantics.open_tail import OpenTail

SHARES = {name: Fraction(str(level)) for name, level in QUANTILES.items()}


def tail_of(program: str, **options: object) -> OpenTail:
    found = solve(load_text(program).program, SolveOptions(**options)).tail
    assert found is not None
    return found


def queue(work: str, lam: str, stage: str = "fifo") -> str:
    return f"stage svc : {stage};\nworkload {{ arrive poisson({lam}); }}\nsession {{ run svc ({work}); }}"


# -- one server: the number present is a power series ----------------------------------------------------------------


def during_a_service(rates: Mapping[Fraction, Fraction], phases: int, lam: Fraction) -> Iterator[Fraction]:
    """The probabilities of 0, 1, 2, ... arrivals during a work: Erlang of so many phases, its rate drawn by weight."""
    k = 0
    parts = [(w * (rate / (rate + lam)) ** phases, lam / (rate + lam)) for rate, w in rates.items()]
    while True:
        yield sum((x for x, _ in parts), Fraction(0))
        k += 1
        parts = [(x * p * Fraction(phases + k - 1, k), p) for x, p in parts]


def numbers_present(rates: Mapping[Fraction, Fraction], phases: int, lam: Fraction, most: int) -> list[Fraction]:
    """P(N = n) in M/G/1, by the chain at departures (D. G. Kendall, Ann. Math. Stat. 24, 1953): an arrival finds what a
    departure leaves. p[n + 1] a[0] = p[n] - p[0] a[n] - sum of p[k] a[n + 1 - k] over k = 1, ..., n.
    """
    arrivals = during_a_service(rates, phases, lam)
    a = [next(arrivals) for _ in range(most + 2)]
    mean = sum((w * phases / rate for rate, w in rates.items()), Fraction(0))
    p = [1 - lam * mean]
    for n in range(most):
        rest = p[n] - p[0] * a[n] - sum((p[k] * a[n + 1 - k] for k in range(1, n + 1)), Fraction(0))
        p.append(rest / a[0])
    return p


def quantiles(probabilities: list[Fraction]) -> dict[str, int]:
    upto = list(accumulate(probabilities))
    return {name: next(n for n, total in enumerate(upto) if total >= share) for name, share in SHARES.items()}


ONE_SERVER = {
    "M/M/1": ("~exp(1)", {Fraction(1): Fraction(1)}, 1),
    "M/E3/1": ("~erlang(3, 1)", {Fraction(3): Fraction(1)}, 3),
    "M/H2/1": ("~h2(1, 17/8)", {Fraction(8, 5): Fraction(4, 5), Fraction(2, 5): Fraction(1, 5)}, 1),
}


@pytest.mark.parametrize("lam", ["0.5", "0.8"])
@pytest.mark.parametrize("name", ONE_SERVER)
def test_one_server_by_its_generating_function(name: str, lam: str) -> None:
    work, rates, phases = ONE_SERVER[name]
    expected = quantiles(numbers_present(rates, phases, Fraction(lam), 90))
    assert tail_of(queue(work, lam)).quantiles == expected
    assert tail_of(queue(work, lam), exact=False).quantiles == expected


def test_one_server_state_by_state() -> None:
    """The front of the chain has the probabilities of the series, as rationals."""
    work, rates, phases = ONE_SERVER["M/E3/1"]
    solved = solve(load_text(queue(work, "0.8")).program)
    found = marginal(solved.chain, solved.solution, "sessions.number")
    expected = numbers_present(rates, phases, Fraction("0.8"), 12)
    assert solved.tail is not None
    for n in range(1, 6):
        assert found[Fraction(n)] == expected[n]


def test_quantiles_far_up() -> None:
    """M/M/1: P(N > n) = rho^(n + 1), compared as whole numbers of millions of digits would be by their logarithms."""
    tail = tail_of(queue("~exp(1)", "0.999999"))
    assert tail.quantiles == {"p50": 693146, "p90": 2302583, "p95": 2995730, "p99": 4605167}
    assert tail.decay == Fraction("0.999999")


# -- other queues: chains with a limit so far up that it changes nothing ---------------------------------------------

OTHERS = {
    "M/H2/2": queue("~h2(1, 17/8)", "1.5", "fifo(2)"),
    "M/E2/3": queue("~erlang(2, 1)", "2.4", "fifo(3)"),
    "a pool of three": """
        stage svc : ps(1);  stage other : delay;  pool s { cap 3; }
        workload { arrive poisson(0.4); }
        session { hold s (1) { run other (~erlang(2, 1)); run svc (~exp(1)); branch (0.3) { run other (~exp(2)); } } }
    """,
}


@pytest.mark.parametrize("name", OTHERS)
def test_others_by_a_limit_far_up(name: str) -> None:
    program = load_text(OTHERS[name]).program
    limited = solve(program, SolveOptions(limit=120, exact=False))
    law = marginal(limited.chain, limited.solution, "sessions.number")
    assert float(law[Fraction(120)]) < 1e-8  # what is cut off is far less than the distance to the next number
    upto = list(accumulate(float(law[Fraction(n)]) for n in range(121)))
    for share in SHARES.values():
        assert min(abs(x - share) for x in upto) > 1e-6
    expected = {name: next(n for n, x in enumerate(upto) if x >= share) for name, share in SHARES.items()}
    assert tail_of(OTHERS[name]).quantiles == expected
    ratio = float(law[Fraction(60)]) / float(law[Fraction(59)])
    assert float(tail_of(OTHERS[name]).decay) == pytest.approx(ratio, rel=1e-9)
