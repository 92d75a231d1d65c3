"""What was probably meant."""

from serq.base.suggestions import did_you_mean, near, nearest, question


def test_the_nearest_name_is_asked_for() -> None:
    assert did_you_mean("horizn", ["seed", "horizon", "warmup"]) == "did you mean `horizon`?"
    assert did_you_mean("xyz", ["seed", "horizon"]) == ""
    assert did_you_mean("seed", iter(())) == ""


def test_how_alike_names_must_be() -> None:
    assert nearest("mm1x", ["mm1n"], alike=0.75) == "mm1n"
    assert nearest("mm1x", ["mm1n"], alike=0.76) is None
    assert near("mm1", ["mmc", "mm1n", "mm1k", "tandem"]) == ["mm1n", "mm1k", "mmc"]


def test_several_names_in_one_question() -> None:
    assert question("a", "b") == "did you mean `a`, `b`?"
    assert question(None) == question() == ""
