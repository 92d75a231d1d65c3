"""The CPython back end: the text as it stands, under the debugger if one likes, with records that are plain objects."""

import linecache
from collections.abc import Callable
from typing import Any

from serq.codegen.check import check_sources
from serq.codegen.compiled import Compiled
from serq.codegen.instrument import instrumented
from serq.codegen.signatures import ArrayType, RecordType
from serq.codegen.units import unit_of_text


def by_cpython(text: str, exports: tuple[str, ...] | None, checked: bool) -> Compiled:
    """The program that CPython makes of a text, which is checked all the same; `checked` stops at faults."""
    unit = unit_of_text(text)
    # so that tracebacks and debuggers show the lines of the text
    linecache.cache[unit.file] = (len(text), None, text.splitlines(keepends=True), unit.file)
    module, sources = check_sources(unit, exports)
    functions: dict[str, Any] = {name: unit.namespace[name] for name in module.exports}
    if checked:
        asking = instrumented(sources)
        functions = {name: asking[f] for name, f in functions.items()}
    records = {name: _maker(layout) for name, layout in module.records.items()}
    return Compiled("cpython", checked, functions, records)


def _maker(layout: RecordType) -> Callable[..., Any]:
    """A class of objects with the fields of a record and no others."""
    names = [f.name for f in layout.fields]

    def init(self: Any, **fields: Any) -> None:
        for f in layout.fields:
            if isinstance(f.type, RecordType):
                setattr(self, f.name, _maker(f.type)())
            else:
                setattr(self, f.name, None if isinstance(f.type, ArrayType) else 0.0 if f.type == "f64" else 0)
        for name, value in fields.items():
            setattr(self, name, value)

    return type(layout.label, (), {"__slots__": names, "__init__": init})
