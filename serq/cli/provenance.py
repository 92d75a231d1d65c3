"""What every JSON report says about itself."""

import sys
from importlib.metadata import PackageNotFoundError, version

from serq import __version__
from serq.ir.fingerprint import fingerprint
from serq.ir.program import Program

SCHEMA = 1


def provenance(program: Program, verb: str, *tools: str) -> dict[str, object]:
    """Version, schema, the program's name and hash, and the versions of the tools that were used."""
    return {
        "serq_version": __version__,
        "schema": f"serq.{verb}/{SCHEMA}",
        "program": program.name,
        "file": program.source.name,
        "program_hash": fingerprint(program),
        "constants": {c.name: _plain(c.folded.value) for c in program.constants},
        "tools": {"python": sys.version.split()[0], **{tool: _version(tool) for tool in tools}},
    }


def _plain(value: float) -> float | str:
    return value if abs(value) != float("inf") else str(value)


def _version(tool: str) -> str | None:
    try:
        return version(tool)
    except PackageNotFoundError:
        return None
