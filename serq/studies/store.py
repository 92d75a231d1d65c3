"""The directory of a study: what it is about, and every finished point in a file of its own.

A file is written beside its place, brought to the disk and renamed, so that it is there whole or not at all, whatever
ends the process. `study.json` says which study it is; the grid is no part of that, so that a study can grow.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from serq.base.errors import InputError, OutputError
from serq.base.output import cannot_write, make_directory
from serq.base.source import NOWHERE
from serq.studies.errors import NoStudy, OtherStudy, StudyInUse

SCHEMA = "serq.study-directory/2"
_HEAD = "study.json"
_LOCK = "lock"
_POINTS = "points"


class Store(Protocol):
    """Where finished tasks are kept."""

    def get(self, key: str) -> Mapping[str, Any] | None:
        """What was kept under the key."""
        ...

    def put(self, key: str, data: Mapping[str, object]) -> None:
        """Keep something."""
        ...


class Memory:
    """A store that ends with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def get(self, key: str) -> Mapping[str, Any] | None:
        """What was kept under the key, as it would be read from a file."""
        text = self._kept.get(key)
        return None if text is None else json.loads(text)

    def put(self, key: str, data: Mapping[str, object]) -> None:
        """Keep it until the process ends."""
        self._kept[key] = json.dumps(data, allow_nan=False)


class Directory:
    """A store on disk, for one process at a time; use it in a `with` block.

    `identity` is what makes two studies different. Opening raises OutputError for a directory of another study, for one
    in use and for one that is none, InputError for one that is damaged, LimitError where the disk is full.
    """

    def __init__(self, path: Path, identity: Mapping[str, object]) -> None:
        self.path = path
        self.identity = dict(identity)
        self._lock = -1

    def __enter__(self) -> Self:
        """Take hold of the directory."""
        self._refuse_others()
        make_directory(self.path / _POINTS)
        try:
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # not inherited: workers may outlive us a moment
        except (BlockingIOError, PermissionError):
            os.close(self._lock)
            raise OutputError.of(StudyInUse(span=NOWHERE, path=str(self.path))) from None
        except OSError as error:
            raise cannot_write(self.path / _LOCK, error) from error
        try:
            self._begin()
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def _begin(self) -> None:
        for left in self.path.glob("**/.part-*"):  # a process was killed while it wrote
            left.unlink(missing_ok=True)
        if not (self.path / _HEAD).exists():
            self._write(self.path / _HEAD, {"schema": SCHEMA} | self.identity)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of it."""
        os.close(self._lock)

    def get(self, key: str) -> Mapping[str, Any] | None:
        """What was kept under the key; what cannot be read counts as not done."""
        try:
            data = json.loads(self._place(key).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return data if isinstance(data, dict) and "status" in data else None

    def put(self, key: str, data: Mapping[str, object]) -> None:
        """Keep it on disk. LimitError when the disk is full, OutputError when the system refuses."""
        self._write(self._place(key), data)

    def _place(self, key: str) -> Path:
        return self.path / _POINTS / f"{key}.json"

    def _refuse_others(self) -> None:
        """OutputError unless the directory is this study's, is empty, or is not there."""
        head = self.path / _HEAD
        if not head.exists():
            found = sorted(p.name for p in self.path.iterdir()) if self.path.is_dir() else []
            foreign = [name for name in found if name not in (_LOCK, _POINTS) and not name.startswith(".part-")]
            if foreign:
                problem = f"there is `{foreign[0]}`, and no `{_HEAD}`"
                raise OutputError.of(NoStudy(span=NOWHERE, path=str(self.path), reason=problem))
            return
        difference = _difference(_read_head(head), {"schema": SCHEMA} | self.identity)
        if difference:
            raise OutputError.of(OtherStudy(span=NOWHERE, path=str(self.path), difference=difference))

    def _write(self, path: Path, data: Mapping[str, object]) -> None:
        text = json.dumps(data, allow_nan=False, separators=(",", ":"))
        try:
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                os.chmod(temporary, 0o644)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise
            _settle(path.parent)
        except OSError as error:
            raise cannot_write(path, error) from error


def _settle(folder: Path) -> None:
    """See that the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_head(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        problem = f"`{path.name}` cannot be read ({error})"
        raise InputError.of(NoStudy(span=NOWHERE, path=str(path.parent), reason=problem)) from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        problem = f"`{path.name}` is not of the form {SCHEMA}"
        raise InputError.of(NoStudy(span=NOWHERE, path=str(path.parent), reason=problem))
    return data


def _difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """What tells two studies apart, in words; empty where nothing does."""
    for name in (*here, *there):
        if there.get(name) != here.get(name):
            return f"its {name.replace('_', ' ')} is {_shown(there.get(name))}, here it is {_shown(here.get(name))}"
    return ""


def _shown(value: object) -> str:
    text = "not given" if value is None else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
