"""From a path to a `SourceFile`: everything that can be wrong with a file before its first character is read."""

from pathlib import Path

from serq.base.diagnostics import Diagnostic
from serq.base.errors import InputError
from serq.base.source import NOWHERE, SourceFile
from serq.base.suggestions import nearest, question
from serq.syntax import text_errors as errors
from serq.syntax.limits import MAX_TEXT

_BOM = b"\xef\xbb\xbf"


def read_source(path: str | Path) -> SourceFile:
    """The text of a program file, a byte-order mark removed; line ends may be LF or CRLF.

    Raises InputError when there is no such file, when it is a directory or cannot be read, when it is no text, is not
    UTF-8 or is too large.
    """
    name = str(path)
    data = _read(name)
    if len(data) > MAX_TEXT:
        raise _refusal(errors.TooLarge(span=NOWHERE, limit=MAX_TEXT))
    if b"\0" in data:
        raise _refusal(errors.NotText(span=NOWHERE, path=name, offset=data.index(b"\0")))
    try:
        return SourceFile(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        at = error.start + (len(_BOM) if data.startswith(_BOM) else 0)
        line = data.count(b"\n", 0, at) + 1
        raise _refusal(errors.NotUtf8(span=NOWHERE, path=name, offset=at, byte=data[at], line=line)) from None


def _read(name: str) -> bytes:
    """At most one byte more than the limit, so that no file is too large to be refused."""
    try:
        with open(name, "rb") as file:
            return file.read(MAX_TEXT + 1)
    except FileNotFoundError:
        raise _refusal(errors.NoSuchFile(span=NOWHERE, path=name, advice=_neighbour(Path(name)))) from None
    except IsADirectoryError:
        raise _refusal(errors.IsDirectory(span=NOWHERE, path=name)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refusal(errors.Unreadable(span=NOWHERE, path=name, reason=reason)) from None


def _neighbour(path: Path) -> str:
    """A program of a similar name beside the missing file."""
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".sq"]
    except OSError:
        return ""
    found = nearest(path.name, names) or nearest(path.name + ".sq", names)
    return "" if found is None else question(str(path.parent / found))


def _refusal(diagnostic: Diagnostic) -> InputError:
    return InputError(diagnostic.code, diagnostic.message, diagnostic.hint)
