"""Where reports go: whole files or none, and a clear end when they cannot go there."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from serq.base import output
from serq.base.errors import LimitError, OutputError
from serq.base.output import check_target, make_directory, write_text

REPORTERS = (
    ("run",), ("solve",), ("explain",), ("lint",), ("closed-form",), ("check", "--jobs", "1"), ("price", "--to", "N=4"),
)  # fmt: skip


@pytest.fixture(params=REPORTERS, ids=lambda verb: verb[0])
def verb(request):
    return request.param


def test_out_takes_the_report_and_stdout_stays_empty(serq, verb, write, tmp_path) -> None:
    path, target = write(), tmp_path / "new" / "report.txt"
    direct = serq(*verb, path)
    done = serq(*verb, path, "--out", target)
    assert (done.status, done.out) == (direct.status, "")
    assert target.read_text() == direct.out


def test_out_that_is_a_directory(serq, verb, write, tmp_path) -> None:
    done = serq(*verb, write(), "--out", tmp_path)
    assert done.status == 2
    assert f"error[SQ810]: cannot write `{tmp_path}`: it is a directory" in done.err


def test_out_below_a_file(serq, verb, write) -> None:
    path = write()
    done = serq(*verb, path, "--out", path / "report.txt")
    assert done.status == 2
    assert f"error[SQ811]: cannot write into `{path}`: it is not a directory" in done.err


def test_a_target_is_refused_before_the_work(serq, write, tmp_path, monkeypatch) -> None:
    import serq.pipeline

    monkeypatch.setattr(serq.pipeline, "load", lambda *_: pytest.fail("the program was read first"))
    assert serq_status(write(), tmp_path) == 2


def serq_status(path: Path, out: Path) -> int:
    from serq.cli.failures import run_and_report
    from serq.cli.main import cli

    return run_and_report(cli, ["run", str(path), "--out", str(out)])


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_out_in_a_directory_that_may_not_be_written(serq, write, tmp_path) -> None:
    path, closed = write(), tmp_path / "closed"
    closed.mkdir(mode=0o555)
    done = serq("run", path, "--out", closed / "report.txt")
    assert done.status == 2
    assert "error[SQ812]" in done.err
    assert "Permission denied" in done.err


def test_a_refusal_of_the_system(serq, write, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(output.os, "access", lambda *_: False)
    done = serq("run", write(), "--out", tmp_path / "report.txt")
    assert done.status == 2
    assert f"error[SQ812]: cannot write `{tmp_path}/report.txt`: Permission denied" in done.err


def test_a_full_disk_leaves_the_old_file_and_nothing_else(serq, write, tmp_path, monkeypatch) -> None:
    path, target = write(), tmp_path / "d" / "report.txt"
    write_text(target, "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(output.os, "replace", full)
    done = serq("run", path, "--out", target)
    assert done.status == 4
    assert done.err == f"serq: error: cannot write `{target}`: No space left on device\n"
    assert [p.name for p in target.parent.iterdir()] == ["report.txt"]
    assert target.read_text() == "old"


def test_export_and_dump_want_directories(serq, write, tmp_path) -> None:
    path = write()
    for command in (("export", "--prism", path, "--out", path), ("run", path, "--dump", path)):
        done = serq(*command)
        assert done.status == 2
        assert f"error[SQ811]: cannot write into `{path}`" in done.err
    assert serq("export", "--dot", path, "--out", tmp_path / "a" / "b").status == 0
    assert (tmp_path / "a" / "b" / "program.dot").is_file()


def test_models_copy_overwrites_nothing(serq, tmp_path) -> None:
    done = serq("models", "copy", "mm1n", tmp_path)
    assert (done.status, done.out) == (0, f"{tmp_path}/mm1n.sq\n")
    again = serq("models", "copy", "mm1n", tmp_path)
    assert again.status == 2
    assert f"error[SQ813]: `{tmp_path}/mm1n.sq` exists" in again.err
    assert serq("models", "copy", "mm1n", tmp_path / "no" / "such").status == 2


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_standard_output_on_a_full_disk(process, write) -> None:
    with open("/dev/full", "w") as full:
        done = process("run", write(), stdout=full)
    assert done.status == 4
    assert done.err == "serq: error: cannot write `standard output`: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_a_device_is_written_to_and_never_replaced(process, write) -> None:
    done = process("run", write(), "--out", "/dev/full")
    assert done.status == 4
    assert Path("/dev/full").is_char_device()
    assert process("run", write(), "--out", "/dev/null").status == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("command", [("models",), ("--help",), ("run", "mm1n", "--horizon", "50", "--warmup", "0")])
def test_a_reader_that_goes_away(command) -> None:
    read, end = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "serq", *command], stdout=end, stderr=subprocess.PIPE, check=False)
    os.close(end)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_goes_away_does_not_change_the_answer(write) -> None:
    read, end = os.pipe()
    os.close(read)
    path = write(write().read_text().replace("arrive closed(N)", "arrive poisson(1)"))
    command = [sys.executable, "-m", "serq", "explain", str(path)]
    done = subprocess.run(command, stdout=end, stderr=subprocess.DEVNULL, check=False)
    os.close(end)
    assert done.returncode == 1


def test_closed_streams(write) -> None:
    command = f'"{sys.executable}" -m serq run "{write()}" >&- 2>&-'
    assert subprocess.run(command, shell=True, check=False).returncode == 0


def test_stderr_that_nobody_reads(write) -> None:
    read, end = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "serq", "run", "nowhere.sq"]
    assert subprocess.run(command, stderr=end, check=False).returncode == 3
    os.close(end)


def test_a_link_is_followed_and_permissions_stay(tmp_path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_the_functions_below(tmp_path) -> None:
    check_target(tmp_path / "new" / "file")
    with pytest.raises(OutputError, match="directory"):
        check_target(tmp_path)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(OutputError, match="not a directory"):
        make_directory(file / "below")
    assert isinstance(output.cannot_write("x", OSError(errno.EDQUOT, "quota")), LimitError)
