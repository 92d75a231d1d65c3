"""The C back end: the text of `c_text`, compiled by gcc (or `CC`) into a library of its own."""

import ctypes
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from serq.codegen.c_text import c_name, c_text
from serq.codegen.check import check
from serq.codegen.compiled import Compiled, native
from serq.codegen.errors import BackendError
from serq.codegen.interface import Interface
from serq.codegen.lower import lower
from serq.codegen.units import unit_of_text

PLAIN = ("-O2", "-fwrapv")
"""Wrapping whole numbers, as LLVM has them."""
_ALWAYS = ("-std=gnu11", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-shared", "-fPIC")
_SECONDS = 300


def by_c(text: str, exports: Sequence[str] | None, checked: bool, flags: Sequence[str] = PLAIN) -> Compiled:
    """The program that a C compiler makes of a text. Raises `BackendError` where there is none, or where it fails."""
    module = check(unit_of_text(text), exports)
    code = lower(module, checked)
    with TemporaryDirectory(prefix="serq-c-") as place:
        library = build(c_text(code), Path(place), flags)
        loaded = ctypes.CDLL(str(library))
    addresses = {}
    for signature in module.exports.values():
        function = getattr(loaded, c_name(signature.symbol))
        addresses[signature.symbol] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return native("c", checked, Interface(module.exports, module.records, code.sites), addresses, loaded)


def build(text: str, place: Path, flags: Sequence[str]) -> Path:
    """The shared library of a C text, in a directory."""
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    if shutil.which(compiler[0]) is None:
        raise BackendError(f"the c back end needs a C compiler, and there is no {compiler[0]}")
    source, library = place / "program.c", place / "program.so"
    source.write_text(text, encoding="utf-8")
    command = [*compiler, *_ALWAYS, *flags, "-o", str(library), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode != 0:
        raise BackendError(f"{compiler[0]} fails on the generated text: {done.stderr[:2000]}")
    return library
