"""`serq price --vary`: the price of a change over a grid, by three methods and against the open formula."""

from fractions import Fraction

import pytest

from serq import load

MISSES = """let N = 3; let p = 0; let Z = 4;
stage svc : fifo;
stage think : delay;
workload { arrive closed(N); }
session { loop {
  set t0 = now;
  branch (p) { run svc (~exp(3)); } else { run svc (~exp(1)); }
  observe response = now - t0;
  run think (~exp(Z));
} }
run { horizon 4000; warmup 200; seed 1; }
"""


def differences(data, measure: str, method: str) -> dict[str, dict[str, object]]:
    return {c["values"]["N"]: c["differences"][measure][method] for c in data["contrasts"]}


def test_exact_and_closed_form(serq) -> None:
    words = ("--set", "Z=4", "--from", "mu=1", "--to", "mu=0.8", "--vary", "N=2,8", "--methods", "exact,closed")
    done = serq("price", "mm1n", *words, "--json")
    assert done.status == 0
    for method in ("exact", "closed_form"):
        found = differences(done.data, "stage.svc.number", method)
        assert [found[n]["exact"] for n in ("2", "8")] == ["292/3029", "36073623352516/50516600209397"]
    shown = serq("price", "mm1n", *words)
    assert shown.out.startswith("mm1n: mu=1 -> mu=0.8\n")
    assert "stage.svc.number: mu=0.8 minus mu=1" in shown.out


def test_a_simulated_miss_costs_what_the_chain_says_and_less_than_in_an_open_queue(serq, write) -> None:
    done = serq("price", write(MISSES), "--to", "p=0.1", "--vary", "N=2,3", "--json", "--quiet")
    assert done.status == 0
    simulated, exact = (differences(done.data, "observe.response.mean", m) for m in ("simulated", "exact"))
    for n in ("2", "3"):
        assert simulated[n]["method"].startswith("paired")
        assert abs(simulated[n]["value"] - exact[n]["value"]) < 5 * simulated[n]["standard_error"]
        assert 2 < exact[n]["value"] / 0.1 < open_price(throughput(int(n)))


def throughput(sources: int) -> float:
    """Of M/M/1//N with mean work 1 and think time 4 (Reiser and Lavenberg 1980)."""
    number = Fraction(0)
    for n in range(1, sources + 1):
        number = n * (1 + number) / (5 + number)
    return float((sources - number) / 4)


def open_price(rate: float, hit: float = 1.0, miss: float = 3.0) -> float:
    """What a small probability of misses adds to the mean response of M/M/1 per unit of it: the difference of the
    works, of the residual works that others meet, and of the load behind which they wait (Pollaczek and Khinchine).
    """
    load, longer = rate * hit, miss - hit
    wait = rate * 2 * hit**2 / (2 * (1 - load))
    return longer + rate * (2 * miss**2 - 2 * hit**2) / (2 * (1 - load)) + rate * wait * longer / (1 - load)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--to", "mu=0.8", "--vary", "M=1:3"), "error[SQ821]"),
        (("--to", "mu=0.8", "--vary", "N=3:1"), "error[SQ820]"),
        (("--from", "mu=1", "--to", "mu=1", "--vary", "N=1:3"), "nothing changes"),
        (
            ("--to", "mu=mu/2", "--vary", "mu=1,2"),
            "`mu` is varied as well; `serq study FILE --vary ... --price ",
        ),
        (("--to", "mu=3", "--vary", "mu=1,2"), "--to mu=3: `mu` is varied as well"),
        (("--from", "mu=mu/2", "--to", "Z=1", "--vary", "N=1,2"), "--from mu=mu/2: `mu` is an expression of itself"),
        (("--do", "work := ~exp(3)", "--vary", "N=1:3"), "--do prices one event"),
    ],
)
def test_calls_that_are_off(serq, words, says) -> None:
    done = serq("price", "mm1n", *words)
    assert done.status == 2
    assert says in done.err


def test_a_constant_may_grow_by_what_it_is(serq) -> None:
    """L at N + 1 less L at N - 1, from the program as written (N = 8) and with another N."""
    model = load("mm1n")
    low, high = (model.having(N=n).solve()["stage.svc.number"] for n in (7, 9))
    for words in (("--from", "N=N-1", "--to", "N=N+1"), ("--set", "N=6", "--from", "N = N + 1", "--to", "N=1.5*N")):
        price = serq("price", "mm1n", *words, "--json").data["price"]["svc"]
        assert Fraction(price["exact"]) == high - low
    assert serq("price", "mm1n", "--to", "N=N+1", "--methods", "exact,closed").status == 0
    assert model.price({"N": "N + 1"}, {"N": "N - 1"}).prices["svc"] == high - low


def test_a_column_for_each_method_that_was_asked(serq) -> None:
    done = serq("price", "mm1n", "--vary", "N=1:2", "--to", "mu=0.8", "--methods", "exact,closed")
    assert "N  exact     closed form  z" in done.out
    assert "AGREES at all 4 points (2 with each of 2 policies)" in done.out
