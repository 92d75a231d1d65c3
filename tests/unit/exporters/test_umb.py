"""UMB: Storm's exact engine reads what was written, and finds what the chain says."""

import io
import json
import tarfile
from fractions import Fraction

import hand_chains
import pytest

from serq.compare.storm import long_run, run_storm, succeeded, umb_job
from serq.exporters.explored import explored
from serq.exporters.umb import Umb, umb_bytes

make = hand_chains.make_chain


def members(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive.getmembers()}  # type: ignore[union-attr]


def numbers(*values: int) -> bytes:
    return b"".join(v.to_bytes(8, "little", signed=True) for v in values)


def test_the_arrays_of_a_small_chain():
    chain = make([{1: Fraction(1, 3)}, {0: 3, 1: 2}], rewards={"n": [0, -1]}, labels={"Busy": [1], "any": [0, 1]})
    files = members(umb_bytes(explored(chain)))
    assert files["state-is-initial.bin"] == numbers(1)
    assert files["state-to-exit-rate.bin"] == numbers(1, 3, 5, 1)
    assert files["choice-to-branches.bin"] == numbers(0, 1, 3)
    assert files["branch-to-target.bin"] == numbers(1, 0, 1)
    assert files["branch-to-probability.bin"] == numbers(1, 1, 3, 5, 2, 5)
    assert files["annotations/aps/busy/states/values.bin"] == numbers(2)
    assert files["annotations/rewards/n/states/values.bin"] == numbers(0, 1, -1, 1)
    index = json.loads(files["index.json"])
    assert index["annotations"]["aps"]["busy"]["alias"] == "Busy"
    assert index["transition-system"]["#branches"] == 3


def test_names_that_differ_in_case_only_keep_apart():
    chain = make([{1: 1}, {0: 1}], labels={"Busy": [1], "busy": [0]})
    assert len({n for n in members(umb_bytes(explored(chain))) if "/aps/" in n}) == 2


def test_the_same_chain_gives_the_same_bytes():
    chain = hand_chains.finite_source(3)
    assert umb_bytes(explored(chain)) == umb_bytes(explored(chain))


@pytest.mark.parametrize("scale", [1, Fraction(10**30 + 1, 10**29), Fraction(1, 2**62), Fraction(2**63, 3)])
def test_storm_reads_numbers_of_any_length(scale):
    """Two states with rates a and b: the first has probability b / (a + b), at every scale."""
    a, b = Fraction(2) * scale, Fraction(3)
    chain = make([{1: a}, {0: b}], rewards={"here": [1, 0], "big": [scale, 0]}, labels={"busy": [1]})
    files = Umb().emit(chain, "two")
    (answer,) = run_storm([umb_job(files["two.umb"], [long_run("here"), long_run("big"), 'S=? [ "busy" ]'])])
    assert succeeded(answer).values == (b / (a + b), scale * b / (a + b), a / (a + b))


def test_a_state_without_a_way_out_stays_where_it_is():
    chain = make([{1: 2}, {}], rewards={"there": [0, 1]})
    (answer,) = run_storm([umb_job(umb_bytes(explored(chain)), [long_run("there")])])
    assert succeeded(answer).values == (1,)
