"""The cache of object files: one file for each program, valid or as good as absent.

The name of a file is a hash over everything that its content depends on. A file holds a digest of the rest, so that a
damaged or foreign one counts as absent; it is written under another name and moved into place, so that processes that
compile the same program at once do no harm. Nothing here ever fails: a cache that cannot be used is not used.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

_MAGIC = b"serq object 1\n"
_DIGEST = 16
_LENGTH = 8
_KEPT = 512
"""Files beyond this number are removed, those first that were not used for longest."""


def key_of(parts: Sequence[str]) -> str:
    """The name of the file of a program, from everything that its object file depends on."""
    digest = blake2b(digest_size=20)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(_LENGTH, "little"))
        digest.update(data)
    return digest.hexdigest()


def directory() -> Path | None:
    """Where object files are kept: `SERQ_CACHE_DIR`, or the platform's place for caches; None where there is none."""
    named = os.environ.get("SERQ_CACHE_DIR")
    if named:
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "serq" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "serq"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "serq"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept for a program: the description of its interface, and its object file."""

    interface: bytes
    object_file: bytes


def read(key: str) -> Entry | None:
    """The entry of a key; None if there is none that is whole and ours."""
    place = directory()
    if place is None:
        return None
    path = place / f"{key}.o"
    try:
        with path.open("rb") as file:
            if not _is_ours(os.fstat(file.fileno())):
                return None
            data = file.read()
    except OSError:
        return None
    entry = _unpack(key, data)
    if entry is not None:
        with suppress(OSError):
            os.utime(path)
    return entry


def write(key: str, entry: Entry) -> None:
    """Keep an entry, if that is possible."""
    place = directory()
    if place is None:
        return
    import tempfile  # only needed here, and not for a program that is found

    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_pack(key, entry))
            os.replace(temporary, place / f"{key}.o")
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        _prune(place)


def _is_ours(status: os.stat_result) -> bool:
    """Machine code is only taken from files that nobody else can write."""
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _pack(key: str, entry: Entry) -> bytes:
    body = len(entry.interface).to_bytes(_LENGTH, "little") + entry.interface + entry.object_file
    return _MAGIC + _digest(key, body) + body


def _unpack(key: str, data: bytes) -> Entry | None:
    start = len(_MAGIC) + _DIGEST
    body = data[start:]
    if data[:start] != _MAGIC + _digest(key, body) or len(body) < _LENGTH:
        return None
    size = int.from_bytes(body[:_LENGTH], "little")
    return Entry(body[_LENGTH : _LENGTH + size], body[_LENGTH + size :])


def _digest(key: str, body: bytes) -> bytes:
    return blake2b(body, digest_size=_DIGEST, key=key.encode()).digest()


def _prune(place: Path) -> None:
    files = [(f.stat().st_mtime, f.path) for f in os.scandir(place) if f.name.endswith((".o", ".part"))]
    for _, path in sorted(files)[: max(0, len(files) - _KEPT)]:
        with suppress(OSError):
            os.unlink(path)
