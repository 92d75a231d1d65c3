"""`serq solve`: what was lumped, without which lumping, and how much memory a chain may take."""

import json

import pytest

MODEL = """let N = 3; stage svc : fifo; stage think : delay; workload { arrive closed(N); }
session { loop { run svc (~exp(1)); run think (~exp(4)); } }"""


@pytest.fixture
def model(write):
    return str(write(MODEL))


def test_the_report(serq, model) -> None:
    done = serq("solve", model, "--lumping", "report")
    assert "lumped: sessions are interchangeable" in done.out
    assert "no chain of fewer than these 4 states keeps all the measures" in done.out
    data = json.loads(serq("solve", model, "--lumping", "report", "--json").out)
    assert data["lumping"][-1].startswith("no chain of fewer")
    assert data["explored"] == ""


def test_without_a_lumping_the_chain_is_larger_and_the_answers_are_the_same(serq, model) -> None:
    lumped = json.loads(serq("solve", model, "--json").out)
    full = json.loads(serq("solve", model, "--without-lumping", "symmetry", "--json").out)
    assert full["states"] > lumped["states"] == 4
    assert {k: v["exact"] for k, v in full["measures"].items() if "exact" in v}.items() >= {
        k: v["exact"] for k, v in lumped["measures"].items() if k.startswith("stage.") and "exact" in v
    }.items()


def test_a_chain_that_needs_more_memory_than_it_may_have(serq, model) -> None:
    done = serq("solve", model, "--set", "N=50000", "--max-memory", "1")
    assert done.status != 0
    assert "does not fit into 1 MB" in done.err
