"""From typed expressions to instructions, in CPython's order of evaluation, with the checks of checked builds."""

from dataclasses import dataclass, field

from serq.codegen.code import (
    Branch,
    Compute,
    Const,
    Faulted,
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
    StoreSlot,
    Temp,
    Value,
)
from serq.codegen.errors import FaultKind, Site
from serq.codegen.operators import I64_LOW
from serq.codegen.signatures import Type
from serq.codegen.tree import (
    Arithmetic,
    Array,
    BuiltinCall,
    Call,
    Choice,
    Comparison,
    Expr,
    Field,
    Function,
    ItemOf,
    Literally,
    Loaded,
    Local,
    Logic,
    Not,
    Place,
    RecordPart,
    Table,
    Unary,
)

_ZERO = Const("i64", 0)


def kind_of(type: Type) -> Kind:
    """What a value of a type is for the machine."""
    return "u64" if type in ("wide", "none") else type  # type: ignore[return-value]


@dataclass(slots=True)
class Values:
    """The instructions of one function as they grow. `loaded` is what `Loaded` stands for, `lanes` the
    number of the loop of lanes that is open, or 0.
    """

    function: Function
    checked: bool
    sites: list[Site]
    tables: dict[str, Table]
    code: list[Instruction] = field(default_factory=list)
    slots: dict[str, Kind] = field(default_factory=dict)
    loaded: Temp = field(default_factory=lambda: Temp("i64", 0))
    lanes: int = 0
    _temps: int = 0
    _labels: int = 0

    # -- the list ----------------------------------------------------------------------------------------------------

    @property
    def dead(self) -> bool:
        """Whether what is emitted now would never run."""
        return bool(self.code) and isinstance(self.code[-1], Jump | Lanes | Branch | Give)

    def emit(self, instruction: Instruction) -> None:
        """Append an instruction."""
        self.code.append(instruction)

    def go(self, label: int) -> None:
        """Jump, unless the end is not reached."""
        if not self.dead:
            self.emit(Jump(label))

    def label(self) -> int:
        """A new label."""
        self._labels += 1
        return self._labels

    def temp(self, type: Type) -> Temp:
        """A new value."""
        self._temps += 1
        return Temp(kind_of(type), self._temps)

    def slot(self, type: Type) -> str:
        """A new intermediate variable; the text has no name like it."""
        name = f"{len(self.slots)}."
        self.slots[name] = kind_of(type)
        return name

    def compute(self, type: Type, op: str, *arguments: Value) -> Temp:
        """A new value, computed."""
        into = self.temp(type)
        self.emit(Compute(into, op, arguments))
        return into

    def enter(self) -> None:
        """The variables of the function, and its scalar parameters in theirs."""
        self.slots.update({name: kind_of(type) for name, type in self.function.locals.items()})
        for p in self.function.signature.parameters:
            if isinstance(p.type, str):
                self.slots[p.name] = kind_of(p.type)
                value: Value = Given("i64" if p.type == "bool" else kind_of(p.type), p.name)
                if p.type == "bool":
                    value = self.compute("bool", "to_bool", value)
                self.emit(StoreSlot(p.name, value))

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, e: Expr) -> Value:
        """The value of an expression."""
        match e:
            case Literally(type, value):
                return Const(kind_of(type), value)
            case Local(type, name):
                into = self.temp(type)
                self.emit(LoadSlot(into, name))
                return into
            case Field(type, path):
                into = self.temp(type)
                self.emit(LoadField(into, path, self.lanes))
                return into
            case ItemOf(type, array, index, place):
                i = self.index(array, index, place)
                into = self.temp(type)
                self.emit(LoadItem(into, array, i, self.lanes))
                return into
            case Loaded():
                return self.loaded
            case Arithmetic():
                return self._arithmetic(e)
            case Unary():
                return self._unary(e)
            case Comparison(op, left, right):
                return self.compute("bool", op, self.value(left), self.value(right))
            case Not(operand):
                return self.compute("bool", "not", self.value(operand))
            case Logic(op, left, right):
                no: Expr = Literally("bool", op == "or")
                return self._choice("bool", left, *((right, no) if op == "and" else (no, right)))
            case Choice(type, test, yes, no):
                return self._choice(type, test, yes, no)
            case BuiltinCall():
                return self._builtin(e)
            case Call():
                result = self.call(e)
                assert result is not None
                return result

    def _choice(self, type: Type, test: Expr, yes: Expr, no: Expr) -> Value:
        if self.lanes:  # both are worked out, which touches nothing
            return self.compute(type, "select", self.value(test), self.value(yes), self.value(no))
        result = self.slot(type)
        on_yes, on_no, end = self.label(), self.label(), self.label()
        self.emit(Branch(self.value(test), on_yes, on_no))
        for label, e in ((on_yes, yes), (on_no, no)):
            self.emit(Label(label))
            self.emit(StoreSlot(result, self.value(e)))
            self.emit(Jump(end))
        self.emit(Label(end))
        into = self.temp(type)
        self.emit(LoadSlot(into, result))
        return into

    def index(self, array: Array, index: Expr, place: Place) -> Value:
        """An index, which a checked build compares with the length first."""
        if isinstance(array.at, Table):
            self.tables[array.at.symbol] = array.at
        i = self.value(index)
        if self.checked:
            length = self.temp("u64")
            self.emit(Length(length, array))
            wrong = self.compute("bool", "not", self.compute("bool", "<", self.compute("u64", "to_u64", i), length))
            self._stop_if(wrong, "index", place, array.text, i, length)
        return i

    def call(self, call: Call) -> Value | None:
        """A call; None for one that gives nothing."""
        arguments = tuple(self._argument(a) for a in call.arguments)
        into = None if call.type == "none" else self.temp("i64" if call.type == "bool" else call.type)
        self.emit(Invoke(into, call.symbol, arguments))
        if self.checked:
            faulted = self.temp("bool")
            self.emit(Faulted(faulted))
            self._leave_if(faulted)
        return self.compute("bool", "to_bool", into) if into is not None and call.type == "bool" else into

    def _argument(self, a: Expr | Array | RecordPart) -> Value | Array | RecordPart:
        if isinstance(a, Array | RecordPart):
            return a
        value = self.value(a)
        return self.compute("i64", "to_i64", value) if value.kind == "bool" else value

    def returned(self, e: Expr) -> Value:
        """What a function returns, as it travels."""
        value = self._argument(e)
        assert isinstance(value, Temp | Const | Given)
        return value

    def nothing(self) -> Value | None:
        """What a function returns that stops at a fault."""
        returns = self.function.signature.returns
        if returns == "none":
            return None
        return Const("f64", 0.0) if returns == "f64" else Const("i64" if returns == "bool" else kind_of(returns), 0)

    # -- operators ---------------------------------------------------------------------------------------------------

    def _arithmetic(self, e: Arithmetic) -> Value:
        left, right = self.value(e.left), self.value(e.right)
        if self.checked:
            self._check_arithmetic(e, left, right)
        op = e.op
        if op in ("<<", ">>"):
            right = Const("i64", int(right.value) & 63) if isinstance(right, Const) else self._masked(right)
        elif op in ("//", "%") and isinstance(right, Const) and int(right.value).bit_count() == 1 and right.value > 0:
            # by a power of two, floors of negative numbers included
            size = int(right.value)
            op, right = (
                (">>", Const("i64", size.bit_length() - 1)) if op == "//" else ("&", Const(right.kind, size - 1))
            )
        result = self.compute(e.type, op, left, right)
        if self.checked and e.op == "<<" and e.type == "i64":
            back = self.compute("i64", ">>", result, right)
            self._stop_if(self.compute("bool", "!=", back, left), "overflow", e.place)
        return result

    def _masked(self, count: Value) -> Value:
        """A shift count modulo 64, as a machine without a fault takes it."""
        return self.compute("i64", "&", count, Const("i64", 63))

    def _check_arithmetic(self, e: Arithmetic, left: Value, right: Value) -> None:
        if e.op in ("<<", ">>"):
            outside = self.compute("bool", ">", self.compute("u64", "to_u64", right), Const("u64", 63))
            self._stop_if(outside, "shift", e.place)
        elif e.op in ("/", "//", "%"):
            zero = Const(right.kind, 0.0 if right.kind == "f64" else 0)
            self._stop_if(self.compute("bool", "==", right, zero), "division", e.place)
            if e.op == "//" and e.type == "i64":
                lowest = self.compute("bool", "==", left, Const("i64", I64_LOW))
                down = self.compute("bool", "==", right, Const("i64", -1))
                self._stop_if(self.compute("bool", "&", lowest, down), "overflow", e.place)
        elif e.type == "i64" and e.op in ("+", "-", "*"):
            self._stop_if(self.compute("bool", f"{e.op}overflows", left, right), "overflow", e.place)

    def _unary(self, e: Unary) -> Value:
        operand = self.value(e.operand)
        if self.checked and e.op == "-" and e.type == "i64":
            self._stop_if(self.compute("bool", "==", operand, Const("i64", I64_LOW)), "overflow", e.place)
        return self.compute(e.type, "negate" if e.op == "-" else "invert", operand)

    def _builtin(self, e: BuiltinCall) -> Value:
        arguments = [self.value(a) for a in e.arguments]
        first = arguments[0]
        if e.name in ("min", "max"):
            second = arguments[1]
            beaten = self.compute("bool", "<" if e.name == "min" else ">", second, first)
            return self.compute(e.type, "select", beaten, second, first)
        if self.checked:
            self._check_builtin(e, first)
        op = {"int": "to_i64", "float": "to_f64"}.get(e.name, e.name)
        return self.compute(e.type, op, *arguments)

    def _check_builtin(self, e: BuiltinCall, x: Value) -> None:
        if e.name == "sqrt":
            self._stop_if(self.compute("bool", "<", x, Const("f64", 0.0)), "domain", e.place)
        if e.name == "int" and x.kind == "u64":
            self._stop_if(self.compute("bool", ">=", x, Const("u64", -I64_LOW)), "conversion", e.place)
        if e.name == "int" and x.kind == "f64":
            low = self.compute("bool", ">=", x, Const("f64", float(I64_LOW)))
            high = self.compute("bool", "<", x, Const("f64", -float(I64_LOW)))
            inside = self.compute("bool", "&", low, high)
            self._stop_if(self.compute("bool", "not", inside), "conversion", e.place)

    # -- checks ------------------------------------------------------------------------------------------------------

    def _stop_if(
        self, test: Value, kind: FaultKind, place: Place, array: str = "", index: Value = _ZERO, length: Value = _ZERO
    ) -> None:
        """Stop the program if the test is true."""
        f = self.function
        self.sites.append(Site(kind, array, f.name, f.file, place.line, place.column))
        wrong, right = self.label(), self.label()
        self.emit(Branch(test, wrong, right, rare=True))
        self.emit(Label(wrong))
        self.emit(SetFault(len(self.sites), index, length))
        self.emit(Give(self.nothing()))
        self.emit(Label(right))

    def _leave_if(self, test: Value) -> None:
        """Leave the function if the test is true: what it called has stopped."""
        wrong, right = self.label(), self.label()
        self.emit(Branch(test, wrong, right, rare=True))
        self.emit(Label(wrong))
        self.emit(Give(self.nothing()))
        self.emit(Label(right))
