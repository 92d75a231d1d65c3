"""Writing results: a file is written whole or not at all, and what goes wrong has a code (SQ81x)."""

import errno
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LimitError, OutputError, SerqError
from serq.base.source import NOWHERE


class OutputIsDirectory(Diagnostic):
    """A directory stands where a file is to be written."""

    code: ClassVar[str] = "SQ810"
    template: ClassVar[str] = "cannot write `{path}`: it is a directory"
    hint_template: ClassVar[str] = "name a file, such as `{path}/report.txt`"

    path: str


class OutputIsFile(Diagnostic):
    """A file stands where a directory is wanted."""

    code: ClassVar[str] = "SQ811"
    template: ClassVar[str] = "cannot write into `{path}`: it is not a directory"
    hint_template: ClassVar[str] = "several files are written: name a directory"

    path: str


class OutputRefused(Diagnostic):
    """The system does not let the file be written."""

    code: ClassVar[str] = "SQ812"
    template: ClassVar[str] = "cannot write `{path}`: {reason}"

    path: str
    reason: str


class OutputExists(Diagnostic):
    """A file that would be overwritten."""

    code: ClassVar[str] = "SQ813"
    template: ClassVar[str] = "`{path}` exists"
    hint_template: ClassVar[str] = "name another target, or remove it first"

    path: str


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def cannot_write(path: str | Path, error: OSError) -> SerqError:
    """The error to raise when the system refuses: LimitError when there is no room, OutputError otherwise."""
    reason = error.strerror or str(error)
    if error.errno in _FULL:
        return LimitError(f"cannot write `{path}`: {reason}")
    return OutputError.of(OutputRefused(span=NOWHERE, path=str(path), reason=reason))


def check_directory(path: Path) -> Path:
    """Raise OutputError when a file stands where the directory is wanted; the directory need not be there yet."""
    in_the_way = next((p for p in (path, *path.absolute().parents) if p.exists()), path)
    if in_the_way.exists() and not in_the_way.is_dir():
        raise OutputError.of(OutputIsFile(span=NOWHERE, path=str(in_the_way)))
    return path


def make_directory(path: Path) -> Path:
    """See that the directory is there. OutputError when it cannot be."""
    check_directory(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def write_text(path: Path, content: str) -> None:
    """Write a text file whole: see `write_lines`."""
    write_lines(path, (content,))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: see `write_lines`."""
    _write(path, (content,))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file whole or not at all, its directory too where there is none; `lines` bring their line ends.

    A link is followed, and what is no plain file (a pipe, a terminal) is written to, never replaced. OutputError or
    LimitError when it cannot be done.
    """
    _write(path, (line.encode("utf-8") for line in lines))


def _write(path: Path, parts: Iterable[bytes]) -> None:
    make_directory(path.parent)
    check_target(path)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                file.writelines(parts)
        else:
            _replace(path.resolve(), parts)
    except OSError as error:
        raise cannot_write(path, error) from error


def check_target(path: Path) -> None:
    """Raise OutputError when it is plain that the file cannot be written: better before a long run than after it."""
    if path.is_dir():
        raise OutputError.of(OutputIsDirectory(span=NOWHERE, path=str(path)))
    check_directory(path.parent)
    around = next(p for p in path.absolute().parents if p.exists())
    if not os.access(path if path.exists() else around, os.W_OK):
        raise OutputError.of(OutputRefused(span=NOWHERE, path=str(path), reason=os.strerror(errno.EACCES)))


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those of a new one."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
