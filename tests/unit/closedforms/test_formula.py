import math
from fractions import Fraction

import pytest

from serq.base.errors import UsageError
from serq.closedforms.arguments import COUNT, POSITIVE, PROBABILITY, SERVERS, Parameter, numbers
from serq.closedforms.birthdeath import without_fractions
from serq.closedforms.formula import DECIMALS, EXACT, ROUNDED
from serq.closedforms.registry import evaluate, find, read_arguments
from serq.closedforms.symbols import mu

F = Fraction


def test_rational_parameters_give_rationals() -> None:
    answer = evaluate("mm1n", {"N": F(8), "mu": F(1), "Z": F(4)})
    assert answer.method == EXACT
    assert answer.values["L"] == F(69372, 16831)
    assert answer.values["X"] == F(16319, 16831)
    assert answer.values["R"] == F(69372, 16319)


def test_a_double_is_taken_as_it_is_and_the_answer_rounded_once() -> None:
    answer = evaluate("mm1n", {"N": F(8), "mu": 0.1, "Z": F(4)})
    exact = evaluate("mm1n", {"N": F(8), "mu": F(0.1), "Z": F(4)})
    assert answer.method == ROUNDED
    assert answer.values["L"] == float(exact.values["L"])


def test_a_long_recursion_goes_on_in_decimals() -> None:
    # at 100000 sources the server is never idle, to hundreds of digits: L = N - Z mu
    answer = evaluate("mm1n", {"N": F(100_000), "mu": F(1), "Z": F(4)})
    assert answer.method == DECIMALS
    assert answer.values["L"] == 99_996.0
    assert answer.values["X"] == 1.0


@pytest.mark.parametrize(("size", "method"), [("300", EXACT), ("301", DECIMALS)])
def test_rationals_and_decimals_meet(size: str, method: str) -> None:
    answer = evaluate("mm1n", read_arguments("mm1n", {"N": size, "mu": "1", "Z": size}))
    other = evaluate(
        "closed-network", read_arguments("closed-network", {"N": size, "V": "1,1", "S": f"1,{size}", "c": "1,inf"})
    )
    assert answer.method == method
    assert float(answer.values["L"]) == pytest.approx(float(other.values["L"][0]), rel=1e-14)


def test_a_rational_of_thousands_of_digits_is_rounded_and_says_so() -> None:
    answer = evaluate("mm1n", {"N": F(300), "mu": F(10**12 + 39, 10**12 + 61), "Z": F(10**12 - 11, 10**12 + 63)})
    assert answer.method == ROUNDED
    assert isinstance(answer.values["L"], float)


def test_what_is_irrational_says_how_it_was_computed() -> None:
    answer = evaluate("mginf", {"lam": F(1), "m": F(2)})
    assert answer.values["p0"] == pytest.approx(math.exp(-2), rel=1e-15)
    assert answer.values["L"] == 2
    assert answer.method == "20 digits, rounded once"


@pytest.mark.parametrize(
    ("name", "texts", "failed"),
    [
        ("mm1", {"lam": "2", "mu": "1"}, ("it needs a utilisation lam / mu below 1",)),
        ("mm1", {"lam": "1", "mu": "1"}, ("it needs a utilisation lam / mu below 1",)),
        ("mm1", {"lam": "-1", "mu": "1"}, ("lam must be a positive number, not -1",)),
        ("mmc", {"lam": "1", "mu": "1", "c": "1.5"}, ("c must be a whole number from 1 to 1000000, not 3/2",)),
        ("mmc", {"lam": "1", "mu": "1", "c": "inf"}, ("c must be a whole number from 1 to 1000000, not inf",)),
        ("mmck", {"lam": "1", "mu": "1", "c": "3", "K": "2"}, ("it needs room for a job at every server, K >= c",)),
        ("mm1n", {"N": "1000001", "mu": "1", "Z": "1"}, ("N must be a whole number from 1 to 1000000, not 1000001",)),
        ("mg1", {"lam": "1/2", "m": "1", "m2": "1/2"}, ("it needs moments of a law: m2 at least the square of m",)),
        ("closed-network", {"N": "2", "V": "1", "S": "1,2", "c": "1,1"},
         ("it needs the same number of stations in V, S, c",)),
        ("closed-classes", {"N": "2", "V": "0,0", "S": "1,1", "c": "1,1"},
         ("it needs some work of every class somewhere",)),
        ("mg1-priority", {"lam": "1,1", "m": "1/2,1/2", "m2": "1,1"}, ("it needs a utilisation below 1",)),
    ],
)  # fmt: skip
def test_what_fails_is_said_and_there_are_no_values(name: str, texts: dict[str, str], failed: tuple[str, ...]) -> None:
    answer = evaluate(name, read_arguments(name, texts))
    assert answer.failed == failed
    assert answer.values == {}


def test_a_shape_is_checked() -> None:
    lists = {"V": (F(1),), "S": (F(1),), "N": F(2)}
    assert evaluate("closed-network", {**lists, "c": F(1)}).failed == ("c is a list",)
    assert evaluate("mm1", {"lam": (F(1),), "mu": F(2)}).failed == ("lam is a number",)


def test_a_large_lattice_is_refused_not_begun() -> None:
    texts = {"N": "50,50", "V": "1,1;1,1", "S": "1,1;1,1", "c": "1,inf"}
    (failed,) = evaluate("closed-classes", read_arguments("closed-classes", texts)).failed
    assert failed.startswith("it needs at most 1000 population vectors")


def test_unknown_and_missing_parameters_are_named_together() -> None:
    with pytest.raises(UsageError, match=r"the parameters are lam, mu \(unknown: rho; missing: lam, mu\)"):
        evaluate("mm1", {"rho": F(1, 2)})


def test_an_unknown_family_is_answered_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="no closed form is called mm1m; did you mean `mm1"):
        find("mm1m")
    with pytest.raises(UsageError, match="--list shows them all"):
        find("xyzzy")


@pytest.mark.parametrize("text", ["abc", "", "1/0", "nan", "1e", "1,2", "1e1000000000", "infinity"])
def test_texts_that_are_no_number_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a number"):
        read_arguments("mm1", {"lam": text})


def test_texts_are_read_by_shape() -> None:
    parameter = Parameter("V", mu, "", shape="table")
    assert parameter.read("1,1/2;0.25,inf") == ((F(1), F(1, 2)), (F(1, 4), math.inf))
    with pytest.raises(UsageError, match="mm1 has no parameter rho; its parameters are lam, mu"):
        read_arguments("mm1", {"rho": "1"})


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (COUNT, [F(1), F(10**6), 2.0], [F(0), F(1, 2), math.inf, F(10**6 + 1)]),
        (SERVERS, [F(1), math.inf], [F(0), F(3, 2), -math.inf]),
        (POSITIVE, [F(1, 10**9), 0.5], [F(0), math.inf, math.nan]),
        (PROBABILITY, [F(0), F(1)], [F(-1, 9), F(10, 9), math.nan]),
    ],
)
def test_domains(domain, inside, outside) -> None:
    assert all(domain.contains(v) for v in inside)
    assert not any(domain.contains(v) for v in outside)


def test_weights_keep_their_proportions() -> None:
    assert without_fractions([F(1), F(1, 6), F(3, 4)]) == [12, 2, 9]
    assert without_fractions([1, F(1, 2)]) == [2, 1]


def test_numbers_flattens_every_shape() -> None:
    assert list(numbers(((F(1), F(2)), (F(3),)))) == [1, 2, 3]
