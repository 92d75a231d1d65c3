"""A file is written whole or not at all."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from serq.base.errors import LimitError, OutputError
from serq.base.output import check_target, write_lines, write_text


def interrupted() -> Iterator[str]:
    yield "new\n"
    raise KeyboardInterrupt


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("old\n")
    with pytest.raises(KeyboardInterrupt):
        write_lines(path, interrupted())
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["report.txt"]


def test_an_interrupt_leaves_no_new_file(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_lines(tmp_path / "report.txt", interrupted())
    assert os.listdir(tmp_path) == []


def test_nobody_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("old\n")
    seen = []

    def lines() -> Iterator[str]:
        for line in ("one\n", "two\n"):
            seen.append(path.read_text())
            yield line

    write_lines(path, lines())
    assert seen == ["old\n", "old\n"]
    assert path.read_text() == "one\ntwo\n"


def test_directories_are_made_and_line_ends_and_letters_kept(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "report.txt"
    write_text(path, "λ = 1\r\nμ = 2\n")
    assert path.read_bytes() == "λ = 1\r\nμ = 2\n".encode()


def test_permissions_stay_and_new_files_have_the_usual_ones(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("x")
    old.chmod(0o640)
    mask = os.umask(0o027)
    try:
        write_text(old, "y")
        write_text(new, "y")
    finally:
        os.umask(mask)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (old, new)] == [0o640, 0o640]


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through\n")
    reader.join(timeout=10)
    assert read == ["through\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, code in ((tmp_path, "SQ810"), (tmp_path / "file" / "report.txt", "SQ811")):
        for write in (lambda p: write_text(p, "x"), check_target):
            with pytest.raises(OutputError) as caught:
                write(path)
            assert caught.value.code == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_a_limit() -> None:
    with pytest.raises(LimitError, match="/dev/full"):
        write_text(Path("/dev/full"), "x")
