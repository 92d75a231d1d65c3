"""`serq export`: which files, for which program, and what is said beside them."""

from fractions import Fraction

from serq.compare.storm import check_prism, long_run

OPEN = """stage svc : fifo;
workload { arrive poisson(0.5); }
session { run svc (~exp(1)); }
run { horizon 200; warmup 10; seed 1; }
"""


def test_one_target_and_no_more(serq, write, tmp_path) -> None:
    out = tmp_path / "out"
    assert "say what to export" in serq("export", write(), "--out", out).err
    done = serq("export", write(), "--prism", "--dot", "--out", out)
    assert done.status == 2
    assert "one export at a time: --prism or --dot" in done.err
    assert not out.exists()


def test_a_limit_of_the_call_is_one_of_the_export(serq, write, tmp_path) -> None:
    """The losses of the exported text are those of the limited program, as the property file says."""
    done = serq("export", write(OPEN), "--prism", "--limit", 3, "--quiet", "--out", tmp_path / "out", "--json")
    assert done.status == 0
    model, properties = (tmp_path / "out" / f"program{suffix}" for suffix in (".prism", ".props"))
    lost = properties.read_text().split('"longrun_lost"')[0].splitlines()[-1]
    assert lost == "// RESULT: 1/30"
    assert check_prism(model.read_text(), {}, [long_run("lost")]).values == (Fraction(1, 30),)


def test_what_stands_in_for_fixed_work_is_said(serq, write, tmp_path) -> None:
    path = write(OPEN.replace("poisson(0.5)", "closed(2)").replace("~exp(1)", "1"))
    done = serq("export", path, "--drn", "--phase-type", 2, "--out", tmp_path / "out")
    assert done.status == 0
    assert "approximated: an Erlang law of 2 phases" in done.err
