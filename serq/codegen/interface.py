"""What a caller must know of a compiled program: its functions, its records, its places of faults; and as JSON."""

import json
from dataclasses import astuple, dataclass

from serq.codegen.errors import Site
from serq.codegen.signatures import ArrayType, FieldType, Parameter, ParameterType, RecordType, Signature


@dataclass(frozen=True, slots=True)
class Interface:
    """Functions and records by the names that the text has for them; sites by number, from 1."""

    exports: dict[str, Signature]
    records: dict[str, RecordType]
    sites: tuple[Site, ...]


def to_json(interface: Interface) -> bytes:
    """The interface as JSON; records are written once each, inner ones first."""
    layouts: dict[str, object] = {}
    for record in interface.records.values():
        _add(record, layouts)
    exports = {}
    for name, s in interface.exports.items():
        parameters = []
        for p in s.parameters:
            _add(p.type, layouts)
            parameters.append([p.name, _word(p.type), p.default])
        exports[name] = [s.symbol, parameters, s.returns]
    records = {name: record.name for name, record in interface.records.items()}
    sites = [astuple(site) for site in interface.sites]
    return json.dumps([layouts, records, exports, sites], separators=(",", ":")).encode()


def from_json(data: bytes) -> Interface:
    """The interface back from JSON."""
    layouts, records, exports, sites = json.loads(data)
    known: dict[str, RecordType] = {}
    for name, (label, fields, size) in layouts.items():
        found = tuple(FieldType(f, offset, _type(word, known)) for f, offset, word in fields)  # type: ignore[arg-type]
        known[name] = RecordType(name, label, found, size)
    signatures = {
        name: Signature(symbol, tuple(Parameter(p, _type(word, known), default) for p, word, default in given), returns)
        for name, (symbol, given, returns) in exports.items()
    }
    return Interface(signatures, {n: known[r] for n, r in records.items()}, tuple(Site(*s) for s in sites))


def _add(kind: ParameterType, layouts: dict[str, object]) -> None:
    if isinstance(kind, RecordType) and kind.name not in layouts:
        for f in kind.fields:
            _add(f.type, layouts)
        layouts[kind.name] = [kind.label, [[f.name, f.offset, _word(f.type)] for f in kind.fields], kind.size]


def _word(kind: ParameterType) -> str:
    if isinstance(kind, RecordType):
        return "=" + kind.name
    if isinstance(kind, ArrayType):
        return f"[{kind.item} {kind.column} {kind.columns} {kind.inside} {kind.rows}"
    return kind


def _type(word: str, known: dict[str, RecordType]) -> ParameterType:
    if word[0] == "=":
        return known[word[1:]]
    if word[0] == "[":
        item, column, columns, inside, rows = word[1:].split(" ", 4)
        return ArrayType(item, rows, int(column), int(columns), int(inside))  # type: ignore[arg-type]
    return word  # type: ignore[return-value]
