"""The directory of a study: whole files, one owner, no other study's."""

import errno
import json
import os
from pathlib import Path

import pytest
from studies import held

from serq.base.errors import InputError, LimitError, OutputError
from serq.studies import store
from serq.studies.store import Directory, Memory

IDENTITY = {"seed": 1, "programs": {"a": ["a", "12"]}}


def test_what_is_put_is_got(tmp_path: Path) -> None:
    for kept in (Memory(), Directory(tmp_path / "new" / "study", IDENTITY).__enter__()):
        assert kept.get("k") is None
        kept.put("k", {"status": "done", "x": 0.1})
        assert kept.get("k") == {"status": "done", "x": 0.1}


def test_it_is_there_for_the_next_one(tmp_path: Path) -> None:
    with Directory(tmp_path, IDENTITY) as first:
        first.put("k", {"status": "done"})
    with Directory(tmp_path, IDENTITY) as second:
        assert second.get("k") == {"status": "done"}


def test_another_study_is_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    with Directory(tmp_path, IDENTITY):
        pass
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match="its seed is 1, here it is 2") as caught, Directory(tmp_path, {"seed": 2}):
        pass
    assert caught.value.code == "SQ823"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_directory_with_other_things_in_it(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(OutputError, match=r"thesis\.tex") as caught, Directory(tmp_path, IDENTITY):
        pass
    assert caught.value.code == "SQ824"
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "other/1"}'])
def test_a_damaged_head(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(InputError) as caught, Directory(tmp_path, IDENTITY):
        pass
    assert caught.value.code == "SQ824"


def test_a_file_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(OutputError) as caught, Directory(tmp_path / "f", IDENTITY):
        pass
    assert caught.value.code == "SQ811"


def test_two_at_a_time(tmp_path: Path) -> None:
    with Directory(tmp_path, IDENTITY):
        pass
    with held(tmp_path):
        with pytest.raises(OutputError) as caught, Directory(tmp_path, IDENTITY):
            pass
        assert caught.value.code == "SQ825"
    with Directory(tmp_path, IDENTITY):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", '{"x": 1}'])
def test_a_damaged_point_counts_as_not_done(tmp_path: Path, text: str) -> None:
    with Directory(tmp_path, IDENTITY) as kept:
        kept.put("k", {"status": "done"})
        (tmp_path / "points" / "k.json").write_text(text)
        assert kept.get("k") is None


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    with Directory(tmp_path, IDENTITY):
        (tmp_path / "points" / ".part-x").write_text("{")
    with Directory(tmp_path, IDENTITY):
        assert list((tmp_path / "points").iterdir()) == []


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Directory(tmp_path, IDENTITY) as kept:
        kept.put("a", {"status": "done"})
        monkeypatch.setattr(store.os, "fsync", _full)
        with pytest.raises(LimitError, match="No space left"):
            kept.put("b", {"status": "done"})
        monkeypatch.undo()
        assert [p.name for p in (tmp_path / "points").iterdir()] == ["a.json"]
        assert json.loads((tmp_path / "points" / "a.json").read_text()) == {"status": "done"}


def test_a_disk_that_is_full_from_the_start_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.os, "fsync", _full)
    with pytest.raises(LimitError), Directory(tmp_path, IDENTITY):
        pass
    monkeypatch.undo()
    with Directory(tmp_path, IDENTITY):
        pass


def _full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
