"""From a path to a `SourceFile`."""

from pathlib import Path

from serq.base.errors import InputError
from serq.base.source import SourceFile


def read_source(path: str | Path) -> SourceFile:
    """The text of a program file; InputError when it cannot be had."""
    try:
        return SourceFile(str(path), Path(path).read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("SQ001", f"cannot read {path}: {error}") from None
