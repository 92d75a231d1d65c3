"""`--set NAME=EXPR`: what it takes, and what it says about what it does not."""

import pytest


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("N", "--set takes NAME=EXPR, not 'N'"),
        ("=3", "--set takes NAME=EXPR, not '=3'"),
        ("N=", "--set takes NAME=EXPR, not 'N='"),
        ("N=1 +", "an expression is missing"),
        ("N=(1", "--set N=(1"),
        ("N=1; let q = 2", "--set N=1; let q = 2"),
        ("N=foo", "unknown name `foo`"),
        ("N=~exp(1)", "--set N"),
        ("N=now", "--set N"),
        ("N=0/0", "NaN"),
    ],
)
def test_malformed(serq, write, given, said) -> None:
    done = serq("run", write(), "--set", given)
    assert done.status == 2, done
    assert done.out == ""
    assert said in done.err


def test_unknown_name_with_a_suggestion(serq, write) -> None:
    path = write("let arrival_rate = 1; " + write().read_text())
    done = serq("solve", path, "--set", "arival_rate=2")
    assert done.status == 2
    assert "--set arival_rate: the program has no `let arival_rate`" in done.err
    assert "did you mean `arrival_rate`?" in done.err


def test_unknown_name_without_one_lists_the_constants(serq, write) -> None:
    assert "the constants are `N`" in serq("check", write(), "--set", "zzz=2").err


def test_every_verb_refuses_an_unknown_name(serq, write) -> None:
    path = write()
    for verb in (["run"], ["solve"], ["check"], ["explain"], ["lint"], ["closed-form"], ["export", "--dot"]):
        assert serq(*verb, path, "--set", "zzz=2").status == 2, verb
    assert serq("price", path, "--to", "zzz=2").status == 2


@pytest.mark.parametrize("value", ["-1", "1.5", "inf"])
def test_a_value_that_its_place_forbids_is_an_error_of_the_program(serq, write, value) -> None:
    done = serq("run", write(), "--set", f"N={value}")
    assert done.status == 3
    assert f"error[SQ117]: the population must be a whole number that is not negative, not {value}" in done.err
    assert "program.sq:4:26" in done.err


def test_the_last_of_a_name_counts_and_expressions_may_use_constants(serq, write) -> None:
    path = write("let M = 2; " + write().read_text())
    data = serq("solve", path, "--set", "N=9", "--set", "N = M * 2", "--json").data
    assert data["constants"] == {"M": 2.0, "N": 4.0}
    assert data["states"] == 5


def test_a_set_without_its_value_is_said_before_what_follows_from_it(serq, write) -> None:
    """`--set N 3 FILE` is read as `--set N` and two files."""
    done = serq("check", "--set", "N", "3", write())
    assert done.status == 2
    assert "--set takes NAME=EXPR, not 'N'" in done.err
