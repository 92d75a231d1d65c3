"""One text, and so one compiled simulator, serves programs that differ in the numbers of their arrivals."""

import pytest

from serq.engine.lower import lower
from serq.pipeline import load_text

TEXT = "stage svc : fifo;\nworkload {{ arrive {arrivals}; }}\nsession {{ run svc (~exp(0.5)); {end} }}\n"


def text_of(arrivals):
    end = "end;" if "batch" in arrivals else ""
    return lower(load_text(TEXT.format(arrivals=arrivals, end=end)).program, False).text


@pytest.mark.parametrize(("one", "other"), [
    ("closed(3)", "closed(70)"), ("batch(3)", "batch(4)"), ("poisson(0.5)", "poisson(1.25)"),
    ("poisson(2) limit(3)", "poisson(1) limit(40)"), ("renewal(~exp(2)) limit(3)", "renewal(~exp(2)) limit(9)"),
])  # fmt: skip
def test_numbers_of_arrivals_are_no_part_of_the_text(one, other):
    assert text_of(one) == text_of(other)


def test_whether_there_is_a_limit_is():
    assert text_of("poisson(2) limit(3)") != text_of("poisson(2)")
