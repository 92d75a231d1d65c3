"""What every JSON report says about itself: versions, schema, and the program it is about."""

import sys

from serq.base.version import __version__
from serq.ir.fingerprint import fingerprint
from serq.ir.program import Program

SCHEMA = 1


def versions(verb: str, *tools: str) -> dict[str, object]:
    """Version, schema, and the versions of the tools that were used."""
    return {
        "serq_version": __version__,
        "schema": f"serq.{verb}/{SCHEMA}",
        "tools": {"python": sys.version.split()[0], **{tool: _version(tool) for tool in tools}},
    }


def provenance(program: Program, verb: str, *tools: str) -> dict[str, object]:
    """The versions, and the program's name, file, hash and constants."""
    return versions(verb, *tools) | {
        "program": program.name,
        "file": program.source.name,
        "program_hash": fingerprint(program),
        "constants": {c.name: _plain(c.folded.value) for c in program.constants},
    }


def _plain(value: float) -> float | str:
    return value if abs(value) != float("inf") else str(value)


def _version(tool: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # takes as long as all of ours

    try:
        return version(tool)
    except PackageNotFoundError:
        return None
