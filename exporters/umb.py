"""UMB, the unified Markov binary: a tar of arrays. Storm (1.12 and later) and PRISM (4.10 and later) read it.

Format: github.com/pmc-tools/umb, spec.md, version 1. Numbers are exact rationals of two integers, each as wide as the
largest needs. A state without a way out gets a self-loop of rate 1, as in DRN. PRISM reads rationals only with
`-exact`.
"""

import io
import json
import re
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from serq.exporters.columns import Column, Places
from serq.exporters.explored import Explored, explored, map_text, properties_text, rationals_of
from serq.exporters.target import Content
from serq.ir.chain import Chain

_WORD = 64
"""Bits of an index, and the unit of the width of numbers."""

_TRUTH: Mapping[str, object] = {"type": "bool", "size": 1}


@dataclass(frozen=True)
class Umb:
    """One UMB file, with its properties and its map."""

    name: str = "umb"
    suffixes: tuple[str, ...] = (".umb", ".props", ".map.json")

    def emit(self, subject: Chain, stem: str) -> Mapping[str, Content]:
        """The files by name; the `.umb` is bytes."""
        ready = explored(subject)
        return {
            f"{stem}.umb": umb_bytes(ready),
            f"{stem}.props": properties_text(subject, ready),
            f"{stem}.map.json": map_text(subject, ready, {"format": self.name, "numbers": rationals_of(subject)}),
        }


def umb_bytes(ready: Explored) -> bytes:
    """The chain as a UMB archive; the same chain gives the same bytes."""
    rows = ready.rates.looped()
    exits = rows.sums()
    branches = rows.numbers.combined(exits[rows.sources()], lambda rate, total: rate / total)
    width = _width([*exits.table, *branches.table, *(x for column in ready.rewards.values() for x in column.table)])
    files = {
        "state-is-initial.bin": _bits(ready.size, [ready.initial]),
        "choice-to-branches.bin": _indices(rows.begin),
        "branch-to-target.bin": _indices(rows.targets),
        "branch-to-probability.bin": _rationals(branches, width),
    }
    number = {"type": "rational", "size": 2 * width}
    if not ready.discrete:
        files["state-to-exit-rate.bin"] = _rationals(exits, width)
    annotations: dict[str, dict[str, object]] = {}
    labels = [("aps", name, _bits(ready.size, members), _TRUTH) for name, members in ready.labels.items()]
    rewards = [("rewards", name, _rationals(vector, width), number) for name, vector in ready.rewards.items()]
    for kind, alias, data, of in [*labels, *rewards]:
        group = annotations.setdefault(kind, {})
        key = _key(alias, group)
        group[key] = {"alias": alias, "applies-to": ["states"], "type": of}
        files[f"annotations/{kind}/{key}/states/values.bin"] = data
    return _archive({"index.json": _index(ready, len(branches), number, annotations), **files})


def _index(ready: Explored, branches: int, number: Mapping[str, object], annotations: Mapping[str, object]) -> bytes:
    counts = {
        "time": "discrete" if ready.discrete else "stochastic",
        "#players": 0,
        "#states": ready.size,
        "#initial-states": 1,
        "#choices": ready.size,
        "#choice-actions": 0,
        "#branches": branches,
        "#branch-actions": 0,
        "#observations": 0,
        "branch-probability-type": number,
    } | ({} if ready.discrete else {"exit-rate-type": number})
    content = {
        "format-version": 1,
        "format-revision": 0,
        "file-data": {"tool": "serQ"},
        "transition-system": counts,
        "annotations": annotations,
    }
    return json.dumps(content, indent=1).encode()


def _key(alias: str, taken: Mapping[str, object]) -> str:
    """The name of the folder: small letters, digits, `_` and `-` only."""
    key = re.sub("[^0-9a-z_-]", "_", alias.lower())
    while key in taken:
        key += "_"
    return key


def _width(numbers: Iterable[Fraction]) -> int:
    """Bits of a numerator or denominator, its sign included: a multiple of 64."""
    longest = max((max(abs(x.numerator), x.denominator).bit_length() for x in numbers), default=1)
    return -(-(longest + 1) // _WORD) * _WORD


def _rationals(numbers: Column, width: int) -> bytes:
    size = width // 8
    table = b"".join(
        part.to_bytes(size, "little", signed=True) for x in numbers.table for part in (x.numerator, x.denominator)
    )
    return np.frombuffer(table, dtype=np.uint8).reshape(-1, 2 * size)[numbers.ids].tobytes()


def _indices(numbers: Places) -> bytes:
    return numbers.astype("<u8").tobytes()


def _bits(size: int, members: Iterable[int]) -> bytes:
    """A bit for each state, in whole words."""
    bits = np.zeros(-(-size // _WORD) * _WORD, dtype=bool)
    bits[list(members)] = True
    return np.packbits(bits, bitorder="little").tobytes()


def _archive(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()
