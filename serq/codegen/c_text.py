"""Instructions spelled as C, for builds under sanitizers and as a second opinion on LLVM.

To be compiled with `-ffp-contract=off`. Whole numbers of type `i64` overflow as C has it (undefined): programs are
right if they never do, and `-fsanitize=undefined` says so; plain builds use `-fwrapv`. Labels and `goto` stand for all
control flow, so that the order of everything is that of the instructions.
"""

from dataclasses import dataclass, field
from math import inf, isfinite

from serq.codegen.code import (
    Branch,
    Code,
    Compute,
    Faulted,
    FunctionCode,
    Give,
    Given,
    Instruction,
    Invoke,
    Jump,
    Kind,
    Label,
    Lanes,
    Length,
    LoadField,
    LoadItem,
    LoadSlot,
    SetFault,
    StoreField,
    StoreItem,
    StoreSlot,
    Temp,
    Value,
)
from serq.codegen.signatures import ArrayType, Parameter, RecordType, Type
from serq.codegen.tree import Array, Path, RecordPart, Table

_TYPES: dict[Kind, str] = {"i64": "int64_t", "u64": "uint64_t", "f64": "double", "bool": "int"}
_RETURNS: dict[Type, str] = {"i64": "int64_t", "u64": "uint64_t", "f64": "double", "bool": "int64_t", "none": "void"}
_LOWEST = -(2**63)

_PRELUDE = """\
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline int64_t floor_quotient_i64(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  int64_t q = a / b;
  return q - (a % b != 0 && (a % b ^ b) < 0);
}
static inline int64_t floor_remainder_i64(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r ^ b) < 0 ? r + b : r;
}
static inline uint64_t floor_quotient_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }
static inline uint64_t floor_remainder_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }
static inline int64_t to_i64(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return INT64_MAX;
  return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}
static inline uint64_t bits_of(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
static inline double float_of(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }
static inline int64_t shifted_left(int64_t a, int64_t n) { return (int64_t)((uint64_t)a << n); }
static inline int overflows_add(int64_t a, int64_t b) { int64_t c; return __builtin_add_overflow(a, b, &c); }
static inline int overflows_sub(int64_t a, int64_t b) { int64_t c; return __builtin_sub_overflow(a, b, &c); }
static inline int overflows_mul(int64_t a, int64_t b) { int64_t c; return __builtin_mul_overflow(a, b, &c); }
"""

_HELPERS = {"//": "floor_quotient", "%": "floor_remainder"}
_OVERFLOWS = {"+overflows": "overflows_add", "-overflows": "overflows_sub", "*overflows": "overflows_mul"}
_CALLS = ("sqrt", "floor", "ceil", "fabs", "bits_of", "float_of")


def c_text(code: Code) -> str:
    """A program as one file of C, whose exported functions are named by `c_name` of their symbols."""
    parts = [_PRELUDE, *(_table(t) for t in code.tables)]
    parts += [_Printer(f, code.checked).text() for f in code.functions]
    return "\n".join(parts)


def c_name(symbol: str) -> str:
    """The name in C of a function or table: different ones for different symbols, and none of the C library's."""
    return "q_" + symbol.replace("_", "__").replace(".", "_D")


def _table(table: Table) -> str:
    items = ", ".join(_constant(table.item, v) for v in table.values)
    return f"static const {_TYPES[table.item]} {c_name(table.symbol)}[{len(table.values)}] = {{{items}}};"


def _constant(kind: Kind, value: int | float | bool) -> str:
    if kind == "f64":
        if isfinite(value):
            return f"({float(value).hex()})"
        return "INFINITY" if value == inf else "(-INFINITY)" if value == -inf else "NAN"
    if kind == "u64":
        return f"{int(value)}ULL"
    return "INT64_MIN" if value == _LOWEST else f"({int(value)}LL)" if kind == "i64" else str(int(value))


@dataclass(slots=True)
class _Printer:
    """Spells one function."""

    function: FunctionCode
    checked: bool
    _lines: list[str] = field(default_factory=list)
    _temps: dict[int, Kind] = field(default_factory=dict)

    def text(self) -> str:
        """The definition of the function."""
        f = self.function
        for instruction in f.code:
            self._instruction(instruction)
        parameters = ["int64_t *fault"] if self.checked else []
        for p in f.signature.parameters:
            parameters += self._parameter(p)
        linkage = "" if f.exported else "static "
        mark = {"cold": "__attribute__((noinline, cold)) ", "inline": "inline ", "": ""}[f.mark]
        head = f"{linkage}{'' if f.exported else mark}{_RETURNS[f.signature.returns]} {c_name(f.signature.symbol)}"
        declared = [f"  {_TYPES[kind]} {self._slot(name)} = 0;" for name, kind in f.slots.items()]
        declared += [f"  {_TYPES[kind]} t{number};" for number, kind in self._temps.items()]
        return "\n".join([f"{head}({', '.join(parameters) or 'void'}) {{", *declared, *self._lines, "}", ""])

    def _parameter(self, p: Parameter) -> list[str]:
        name = self._given(p.name)
        if isinstance(p.type, RecordType):
            return [f"char *{name}"]
        if isinstance(p.type, ArrayType):
            return [f"{_TYPES[p.type.item]} *{name}", *[f"uint64_t {name}_length"] * self.checked]
        return [f"{_RETURNS[p.type]} {name}"]

    # -- spelling ----------------------------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._lines.append(f"  {text};")

    def _slot(self, name: str) -> str:
        return "v_" + name.replace(".", "_temporary")

    def _given(self, name: str) -> str:
        return "p_" + name

    def _value(self, value: Value) -> str:
        if isinstance(value, Temp):
            return f"t{value.number}"
        return self._given(value.name) if isinstance(value, Given) else _constant(value.kind, value.value)

    def _new(self, into: Temp) -> str:
        self._temps[into.number] = into.kind
        return f"t{into.number} ="

    def _place(self, path: Path, kind: str, more: int = 0) -> str:
        return f"*({kind} *)({self._given(path.parameter)} + {path.offset + more})"

    def _base(self, array: Array) -> str:
        if isinstance(array.at, str):
            return self._given(array.at)
        if isinstance(array.at, Table):
            return c_name(array.at.symbol)
        if array.inside:
            return f"(({_TYPES[array.item]} *)({self._given(array.at.parameter)} + {array.at.offset}))"
        return f"({self._place(array.at, _TYPES[array.item] + ' *')})"

    def _item(self, array: Array, index: Value) -> str:
        place = self._value(index)
        if array.columns > 1:
            place = f"{place} * {array.columns} + {array.column}"
        return f"{self._base(array)}[{place}]"

    def _length(self, array: Array) -> str:
        if isinstance(array.at, str):
            return self._given(array.at) + "_length"
        if isinstance(array.at, Table):
            return f"{len(array.at.values)}ULL"
        if array.inside:
            return f"{array.inside}ULL"
        return self._place(array.at, "uint64_t", 8)

    # -- instructions ------------------------------------------------------------------------------------------------

    def _instruction(self, instruction: Instruction) -> None:
        match instruction:
            case Compute(into, _, _):
                self._line(f"{self._new(into)} {self._computed(instruction)}")
            case LoadSlot(into, slot):
                self._line(f"{self._new(into)} {self._slot(slot)}")
            case StoreSlot(slot, value):
                self._line(f"{self._slot(slot)} = {self._value(value)}")
            case LoadField(into, path):
                self._line(f"{self._new(into)} {self._place(path, _TYPES[into.kind])}")
            case StoreField(path, value):
                self._line(f"{self._place(path, _TYPES[value.kind])} = {self._value(value)}")
            case LoadItem(into, array, index):
                self._line(f"{self._new(into)} {self._item(array, index)}")
            case StoreItem(array, index, value):
                self._line(f"{self._item(array, index)} = {self._value(value)}")
            case Length(into, array):
                self._line(f"{self._new(into)} {self._length(array)}")
            case Invoke():
                self._invoke(instruction)
            case _:
                self._flow(instruction)

    def _flow(self, instruction: Label | Jump | Lanes | Branch | Give | SetFault | Faulted) -> None:
        match instruction:
            case Label(number):
                self._line(f"L{number}:")
            case Jump(to) | Lanes(head=to):
                self._line(f"goto L{to}")
            case Branch(test, yes, no, rare):
                asked = f"__builtin_expect({self._value(test)}, 0)" if rare else self._value(test)
                self._line(f"if ({asked}) goto L{yes}; else goto L{no}")
            case Give(value):
                self._line("return" if value is None else f"return {self._value(value)}")
            case SetFault(site, index, length):
                self._line(f"fault[0] = {site}; fault[1] = {self._value(index)}; fault[2] = {self._value(length)}")
            case Faulted(into):
                self._line(f"{self._new(into)} fault[0] != 0")

    def _invoke(self, call: Invoke) -> None:
        arguments = ["fault"] if self.checked else []
        for a in call.arguments:
            if isinstance(a, RecordPart):
                arguments.append(f"{self._given(a.parameter)} + {a.offset}")
            elif isinstance(a, Array):
                arguments += [self._base(a), *[self._length(a)] * self.checked]
            else:
                arguments.append(self._value(a))
        into = "" if call.into is None else self._new(call.into) + " "
        self._line(f"{into}{c_name(call.symbol)}({', '.join(arguments)})")

    def _computed(self, c: Compute) -> str:
        values = [self._value(a) for a in c.arguments]
        listed = ", ".join(values)
        if c.op in _CALLS:
            return f"{c.op}({listed})"
        if c.op in _OVERFLOWS:
            return f"{_OVERFLOWS[c.op]}({listed})"
        if len(values) == 1:
            return _unary(c, values[0])
        if c.op == "select":
            return f"{values[0]} ? {values[1]} : {values[2]}"
        if c.op in _HELPERS and c.into.kind != "f64":
            return f"{_HELPERS[c.op]}_{c.into.kind}({listed})"
        if c.op == "<<" and c.into.kind == "i64":
            return f"shifted_left({listed})"
        if c.into.kind == "u64":
            values = [f"(uint64_t){v}" for v in values]
        return f"{values[0]} {c.op} {values[1]}"


def _unary(c: Compute, a: str) -> str:
    """The operations on one value."""
    kind = c.arguments[0].kind
    if c.op == "to_i64" and kind == "f64":
        return f"to_i64({a})"
    return {
        "not": f"!{a}",
        "negate": f"-{a}" if c.into.kind != "u64" else f"0 - (uint64_t){a}",
        "invert": f"~(uint64_t){a}" if c.into.kind == "u64" else f"~{a}",
        "to_i64": f"(int64_t){a}",
        "to_u64": f"(uint64_t){a}",
        "to_f64": f"(double){a}",
        "to_bool": f"{a} != 0",
    }[c.op]
