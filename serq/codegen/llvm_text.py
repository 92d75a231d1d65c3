"""Instructions spelled as LLVM IR.

Nothing here may change a result: no fast-math flags, no `nsw`, shift counts already reduced, division and the
conversion of doubles through forms that are defined for all operands. Aliasing is told by TBAA: each scalar field has a
tag of its own, and so have the items of each array field (below the tag of all items of their type, which array
parameters use).
"""

from dataclasses import dataclass, field
from struct import pack

from serq.codegen.code import (
    Branch,
    Code,
    Compute,
    Const,
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
from serq.codegen.llvm_prelude import METADATA, PRELUDE
from serq.codegen.signatures import ArrayType, Parameter, RecordType, Type
from serq.codegen.tree import Array, Path, RecordPart, Table

_TYPES: dict[Kind, str] = {"i64": "i64", "u64": "i64", "f64": "double", "bool": "i1"}
_RETURNS: dict[Type, str] = {"i64": "i64", "u64": "i64", "f64": "double", "bool": "i64", "none": "void"}

_DOUBLES = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_WHOLE = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "shl"}
_HELPERS = {"//": "floor_quotient", "%": "floor_remainder"}
_RELATIONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_OVERFLOWS = {"+overflows": "sadd", "-overflows": "ssub", "*overflows": "smul"}
_INTRINSICS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "fabs": "fabs"}


def llvm_text(code: Code) -> str:
    """A program as the text of an LLVM module."""
    tags = _Tags()
    parts = [PRELUDE]
    parts += [_table(t) for t in code.tables]
    parts += [_Printer(f, code.checked, tags).text() for f in code.functions]
    return "\n".join([*parts, METADATA, *tags.lines, ""])


def _table(table: Table) -> str:
    kind = _TYPES[table.item]
    items = ", ".join(f"{kind} {_constant(table.item, v)}" for v in table.values)
    array = f"[{len(table.values)} x {kind}] [{items}]"
    return f"@{_quoted(table.symbol)} = internal unnamed_addr constant {array}, align 64"


def _constant(kind: Kind, value: int | float | bool) -> str:
    if kind == "f64":
        return "0x" + pack(">d", value).hex().upper()
    if kind == "bool":
        return "true" if value else "false"
    return str(int(value))


def _quoted(name: str) -> str:
    return f'"{name}"'


@dataclass(slots=True)
class _Tags:
    """The metadata that tell which accesses can meet: numbers by name, and the lines that define them."""

    numbers: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def field_tag(self, path: Path) -> str:
        """The tag of a scalar field."""
        return self._tag(f"{path.owner}.{path.field}", 1)

    def item_tag(self, array: Array) -> str:
        """The tag of the items of an array."""
        general = self._type(f"{array.item} items", 1)
        if isinstance(array.at, Path):
            return self._tag(f"{array.at.owner}.{array.at.field}[]", general)
        return self._tag(f"{array.item} items", 1)

    def group(self, symbol: str, number: int) -> str:
        """The tag of the accesses of a loop of lanes."""
        return f"!llvm.access.group !{self._line(f'group {symbol} {number}', 'distinct !{}')}"

    def lanes(self, symbol: str, lanes: Lanes) -> str:
        """What has LLVM make vectors with a lane for each turn, before it unrolls and without asking whether memory
        overlaps.
        """
        wanted = {
            "unroll.disable": "",
            "vectorize.enable": ", i1 true",
            "vectorize.width": f", i32 {lanes.turns}",
            "interleave.count": ", i32 1",
            "parallel_accesses": ", " + self.group(symbol, lanes.number).removeprefix("!llvm.access.group "),
        }
        parts = [self._line(f"loop {w}{v}", f'!{{!"llvm.loop.{w}"{v}}}') for w, v in wanted.items()]
        itself = len(self.lines) + 3
        listed = ", ".join(f"!{n}" for n in (itself, *parts))
        return f"!llvm.loop !{self._line(f'lanes {symbol} {lanes.number}', f'distinct !{{{listed}}}')}"

    def _type(self, name: str, parent: int) -> int:
        return self._line(f"type {name}", f'!{{!"{name}", !{parent}, i64 0}}')

    def _tag(self, name: str, parent: int) -> str:
        type_ = self._type(name, parent)
        return f"!tbaa !{self._line(f'tag {name}', f'!{{!{type_}, !{type_}, i64 0}}')}"

    def _line(self, key: str, text: str) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.lines) + 3
            self.lines.append(f"!{self.numbers[key]} = {text}")
        return self.numbers[key]


@dataclass(slots=True)
class _Printer:
    """Spells one function. `_same` are values that are others by another name: casts between i64 and u64."""

    function: FunctionCode
    checked: bool
    tags: _Tags
    _lines: list[str] = field(default_factory=list)
    _same: dict[Temp, Value] = field(default_factory=dict)
    _names: int = 0

    def text(self) -> str:
        """The definition of the function."""
        f = self.function
        slots = [f"  {self._slot(name)} = alloca {_TYPES[kind]}" for name, kind in f.slots.items()]
        for instruction in f.code:
            self._instruction(instruction)
        parameters = ["ptr noalias %fault"] if self.checked else []
        for p in f.signature.parameters:
            parameters += self._parameter(p)
        mark = {"cold": " noinline cold", "inline": " alwaysinline", "": ""}[f.mark]
        linkage = "" if f.exported else "internal "
        head = f"define {linkage}{_RETURNS[f.signature.returns]} @{_quoted(f.signature.symbol)}"
        return "\n".join([f"{head}({', '.join(parameters)}) nounwind{mark} {{", *slots, *self._lines, "}", ""])

    def _parameter(self, p: Parameter) -> list[str]:
        name = self._given(p.name)
        if isinstance(p.type, RecordType):
            return [f"ptr align 8 dereferenceable({max(p.type.size, 1)}) {name}"]
        if isinstance(p.type, ArrayType):
            length = [f"i64 {self._given(p.name + '.length')}"] if self.checked else []
            return [f"ptr align 8 {name}", *length]
        return [f"{_TYPES['i64' if p.type == 'bool' else p.type]} {name}"]  # type: ignore[index]

    # -- spelling ----------------------------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._lines.append("  " + text)

    def _new(self) -> str:
        self._names += 1
        return f"%a{self._names}"

    def _slot(self, name: str) -> str:
        return "%" + _quoted("v." + name)

    def _given(self, name: str) -> str:
        return "%" + _quoted("p." + name)

    def _spelled(self, value: Value) -> str:
        if isinstance(value, Temp):
            same = self._same.get(value)
            return f"%t{value.number}" if same is None else self._spelled(same)
        return self._given(value.name) if isinstance(value, Given) else _constant(value.kind, value.value)

    def _typed(self, value: Value) -> str:
        return f"{_TYPES[value.kind]} {self._spelled(value)}"

    def _element(self, path: Path, more: int = 0) -> str:
        place = self._new()
        self._line(f"{place} = getelementptr inbounds i8, ptr {self._given(path.parameter)}, i64 {path.offset + more}")
        return place

    def _base(self, array: Array) -> str:
        if isinstance(array.at, str):
            return self._given(array.at)
        if isinstance(array.at, Table):
            return f"@{_quoted(array.at.symbol)}"
        place = self._element(array.at)
        if array.inside:
            return place
        base = self._new()
        self._line(f"{base} = load ptr, ptr {place}, !invariant.load !2")
        return base

    def _length(self, array: Array) -> str:
        if isinstance(array.at, str):
            return self._given(array.at + ".length")
        if isinstance(array.at, Table):
            return str(len(array.at.values))
        if array.inside:
            return str(array.inside)
        place, length = self._element(array.at, 8), self._new()
        self._line(f"{length} = load i64, ptr {place}, !invariant.load !2")
        return length

    def _item(self, array: Array, index: Value) -> str:
        base, place = self._base(array), self._new()
        kind, at = _TYPES[array.item], self._typed(index)
        if array.columns > 1:
            kind, at = f"[{array.columns} x {kind}]", f"{at}, i64 {array.column}"
        self._line(f"{place} = getelementptr inbounds {kind}, ptr {base}, {at}")
        return place

    # -- instructions ------------------------------------------------------------------------------------------------

    def _instruction(self, instruction: Instruction) -> None:
        match instruction:
            case Compute():
                self._compute(instruction)
            case LoadSlot(into, slot):
                self._line(f"{self._spelled(into)} = load {_TYPES[into.kind]}, ptr {self._slot(slot)}")
            case StoreSlot(slot, value):
                self._line(f"store {self._typed(value)}, ptr {self._slot(slot)}")
            case LoadField() | StoreField() | LoadItem() | StoreItem() | Length():
                self._memory(instruction)
            case Invoke():
                self._invoke(instruction)
            case SetFault() | Faulted():
                self._fault(instruction)
            case Label() | Jump() | Lanes() | Branch() | Give():
                self._flow(instruction)

    def _memory(self, instruction: LoadField | StoreField | LoadItem | StoreItem | Length) -> None:
        match instruction:
            case LoadField(into, path, lanes):
                place, tag = self._element(path), self.tags.field_tag(path) + self._group(lanes)
                self._line(f"{self._spelled(into)} = load {_TYPES[into.kind]}, ptr {place}, {tag}")
            case StoreField(path, value):
                self._line(f"store {self._typed(value)}, ptr {self._element(path)}, {self.tags.field_tag(path)}")
            case LoadItem(into, array, index, lanes):
                place, tag = self._item(array, index), self.tags.item_tag(array) + self._group(lanes)
                self._line(f"{self._spelled(into)} = load {_TYPES[into.kind]}, ptr {place}, {tag}")
            case StoreItem(array, index, value, lanes):
                place, tag = self._item(array, index), self.tags.item_tag(array) + self._group(lanes)
                self._line(f"store {self._typed(value)}, ptr {place}, {tag}")
            case Length(into, array):
                self._line(f"{self._spelled(into)} = add i64 {self._length(array)}, 0")

    def _group(self, lanes: int) -> str:
        return ", " + self.tags.group(self.function.signature.symbol, lanes) if lanes else ""

    def _flow(self, instruction: Label | Jump | Lanes | Branch | Give) -> None:
        match instruction:
            case Label(number):
                self._lines.append(f"L{number}:")
            case Jump(to):
                self._line(f"br label %L{to}")
            case Lanes(to):
                self._line(f"br label %L{to}, {self.tags.lanes(self.function.signature.symbol, instruction)}")
            case Branch(test, yes, no, rare):
                weights = ", !prof !0" if rare else ""
                self._line(f"br {self._typed(test)}, label %L{yes}, label %L{no}{weights}")
            case Give(value):
                self._line("ret void" if value is None else f"ret {self._typed(value)}")

    def _fault(self, instruction: SetFault | Faulted) -> None:
        if isinstance(instruction, Faulted):
            site = self._new()
            self._line(f"{site} = load i64, ptr %fault")
            self._line(f"{self._spelled(instruction.into)} = icmp ne i64 {site}, 0")
            return
        values = (Const("i64", instruction.site), instruction.position, instruction.length)
        for i, value in enumerate(values):
            place = self._new()
            self._line(f"{place} = getelementptr inbounds i64, ptr %fault, i64 {i}")
            self._line(f"store {self._typed(value)}, ptr {place}")

    def _invoke(self, call: Invoke) -> None:
        arguments = ["ptr %fault"] if self.checked else []
        for a in call.arguments:
            if isinstance(a, RecordPart):
                arguments.append(f"ptr {self._part(a)}")
            elif isinstance(a, Array):
                arguments.append(f"ptr {self._base(a)}")
                arguments += [f"i64 {self._length(a)}"] if self.checked else []
            else:
                arguments.append(self._typed(a))
        into = "" if call.into is None else f"{self._spelled(call.into)} = "
        kind = "void" if call.into is None else _TYPES[call.into.kind]
        self._line(f"{into}call {kind} @{_quoted(call.symbol)}({', '.join(arguments)})")

    def _part(self, part: RecordPart) -> str:
        place = self._new()
        self._line(f"{place} = getelementptr inbounds i8, ptr {self._given(part.parameter)}, i64 {part.offset}")
        return place

    def _compute(self, c: Compute) -> None:
        first = c.arguments[0]
        if c.op in ("to_i64", "to_u64") and first.kind in ("i64", "u64"):
            self._same[c.into] = first
            return
        if c.op in _OVERFLOWS:
            pair = self._new()
            operands = ", ".join(self._typed(a) for a in c.arguments)
            self._line(f"{pair} = call {{ i64, i1 }} @llvm.{_OVERFLOWS[c.op]}.with.overflow.i64({operands})")
            self._line(f"{self._spelled(c.into)} = extractvalue {{ i64, i1 }} {pair}, 1")
            return
        self._line(f"{self._spelled(c.into)} = {self._computed(c)}")

    def _computed(self, c: Compute) -> str:
        first = c.arguments[0]
        a = self._spelled(first)
        kind = _TYPES[first.kind]
        if len(c.arguments) == 1:
            return _unary(c, kind, a)
        b = self._spelled(c.arguments[1])
        if c.op in _RELATIONS:
            return f"{_comparison(c.op, first.kind)} {kind} {a}, {b}"
        if c.op == "select":
            return f"select i1 {a}, {', '.join(self._typed(x) for x in c.arguments[1:])}"
        if c.into.kind == "f64":
            return f"{_DOUBLES[c.op]} double {a}, {b}"
        if c.op in _HELPERS:
            return f"call i64 @{_HELPERS[c.op]}.{c.into.kind}(i64 {a}, i64 {b})"
        if c.op == ">>":
            return f"{'ashr' if c.into.kind == 'i64' else 'lshr'} i64 {a}, {b}"
        return f"{_WHOLE[c.op]} {kind} {a}, {b}"


def _comparison(op: str, kind: Kind) -> str:
    name = _RELATIONS[op]
    if kind == "f64":
        return f"fcmp {'u' if op == '!=' else 'o'}{name}"
    signed = "" if op in ("==", "!=") else "u" if kind == "u64" else "s"
    return f"icmp {signed}{name}"


def _unary(c: Compute, kind: str, a: str) -> str:
    """The operations on one value."""
    unsigned = c.arguments[0].kind in ("u64", "bool")
    spelled = {
        "not": f"xor i1 {a}, true",
        "negate": f"fneg double {a}" if kind == "double" else f"sub i64 0, {a}",
        "invert": f"xor i64 {a}, -1",
        "to_i64": f"call i64 @llvm.fptosi.sat.i64.f64(double {a})" if kind == "double" else f"zext i1 {a} to i64",
        "to_f64": f"{'uitofp' if unsigned else 'sitofp'} {kind} {a} to double",
        "to_bool": f"icmp ne i64 {a}, 0",
        "bits_of": f"bitcast double {a} to i64",
        "float_of": f"bitcast i64 {a} to double",
    }
    if c.op in _INTRINSICS:
        return f"call double @llvm.{_INTRINSICS[c.op]}.f64(double {a})"
    return spelled[c.op]
