"""Names of a program as identifiers that PRISM and Storm both accept, and the way back.

A serQ name may hold dots and brackets (`stage.svc.number`, `kv[0]`), or be a word that a tool reserves (`ma`, `R`,
`init`). Constants, variables, labels and rewards of an export share one space of identifiers: the tools confuse a
property with a label of its name, and a constant `R` makes every reward property unreadable.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SWALLOWED = ("endmodule", "true")
"""Storm's parser takes these words off the front of a longer one: `truex=1` is `true` and a syntax error."""
_CLOSING_WORD = re.compile(r"end(?=module|rewards|init|system|player|observables|invariant)")
"""Storm looks for the word that closes a block as mere text: `n_endmodule` ends a module for it."""


@cache
def reserved_words() -> frozenset[str]:
    """The words that PRISM or Storm reserve, from `reserved.txt`."""
    text = files(__package__).joinpath("reserved.txt").read_text(encoding="utf-8")
    return frozenset(line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))


def is_identifier(text: str) -> bool:
    """Whether both tools accept the text as the name of anything."""
    return bool(_IDENTIFIER.fullmatch(text)) and text not in reserved_words() and not text.startswith(_SWALLOWED)


def mangle(name: str) -> str:
    """The identifier nearest to a name: what no tool allows becomes `_`, a reserved word gets a `_` behind it (in front
    of it where it would be read on its own).

    Two names may have the same nearest identifier; `NameMap` tells them apart.
    """
    text = re.sub(r"[^A-Za-z0-9_]+", "_", name).rstrip("_") or "_"
    text = _CLOSING_WORD.sub("end_", text)
    if text[0].isdigit() or text.startswith(_SWALLOWED):
        text = "_" + text
    return text if is_identifier(text) else text + "_"


@dataclass(frozen=True, slots=True)
class Named:
    """What an identifier stands for: the kind of thing (`constant`, `variable`, `label`, `reward`), its name in the
    program, and the program lines that it comes from.
    """

    kind: str
    name: str
    lines: tuple[int, ...] = ()


class NameMap:
    """Identifiers handed out one by one; the same thing always gets the same one.

    The identifier depends on the names that came before only where two names would collide: the second gets a number.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """`taken`: identifiers that the exporter uses for itself."""
        self._taken = set(taken)
        self._identifiers: dict[tuple[str, str], str] = {}
        self._named: dict[str, Named] = {}

    def identifier(self, name: str, kind: str = "", lines: Iterable[int] = ()) -> str:
        """The identifier of that thing; `lines` count when it is mentioned first."""
        known = self._identifiers.get((kind, name))
        if known is not None:
            return known
        identifier = self._unused(mangle(name))
        self._identifiers[kind, name] = identifier
        self._named[identifier] = Named(kind, name, tuple(lines))
        return identifier

    def named(self, identifier: str) -> Named:
        """What the identifier stands for; KeyError when it was never handed out."""
        return self._named[identifier]

    def renamed(self) -> dict[str, str]:
        """The names that had to change, each with its identifier: what a user should be told."""
        return {named.name: identifier for identifier, named in self._named.items() if named.name != identifier}

    def to_dict(self) -> dict[str, dict[str, object]]:
        """The map as the object that goes into `.map.json`."""
        return {
            identifier: {"kind": named.kind, "name": named.name, "lines": list(named.lines)}
            for identifier, named in self._named.items()
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Mapping[str, Any]]) -> "NameMap":
        """The map that `to_dict` wrote."""
        out = cls()
        for identifier, entry in data.items():
            named = Named(entry["kind"], entry["name"], tuple(entry["lines"]))
            out._identifiers[named.kind, named.name] = identifier
            out._named[identifier] = named
        return out

    def _unused(self, wanted: str) -> str:
        candidate, number = wanted, 2
        while candidate in self._named or candidate in self._taken:
            candidate = f"{wanted.rstrip('_')}_{number}"
            number += 1
        return candidate
