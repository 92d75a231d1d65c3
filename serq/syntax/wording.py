"""Expressions and single constructs as text, without line breaks and with no parentheses that could be left out."""

from serq.syntax import ast

_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_PRECEDENCE = {operator: level for level, operators in enumerate(_LEVELS, start=2) for operator in operators}
_TERNARY, _DISJUNCTION, _UNARY, _PRIMARY = 1, 2, 8, 9
_NO_CHAIN = frozenset({"==", "!=", "<", "<=", ">", ">="})


def _precedence(expr: ast.Expr) -> int:
    match expr:
        case ast.Ternary():
            return _TERNARY
        case ast.Binary(op):
            return _PRECEDENCE[op]
        case ast.Unary():
            return _UNARY
        case _:
            return _PRIMARY


def _at_least(level: int, expr: ast.Expr) -> str:
    """The expression, in parentheses where it binds less tightly than `level`."""
    text = expression(expr)
    return text if _precedence(expr) >= level else f"({text})"


def expression(expr: ast.Expr) -> str:
    """The text of an expression; `parse_expression` gives an equal one back."""
    match expr:
        case ast.Number(_, text):
            return text
        case ast.Name(name):
            return name
        case ast.Unary(op, operand):
            return op + _at_least(_UNARY, operand)
        case ast.Binary(op, left, right):
            level = _PRECEDENCE[op]
            return f"{_at_least(level + (op in _NO_CHAIN), left)} {op} {_at_least(level + 1, right)}"
        case ast.Ternary(test, then, otherwise):
            return f"{_at_least(_DISJUNCTION, test)} ? {expression(then)} : {expression(otherwise)}"
        case ast.Member(name, index):
            return f"{name}[{expression(index)}]"
        case ast.Call(name, args):
            return f"{name}({expressions(args)})"
        case ast.Draw("choice", args):
            pairs = zip(args[::2], args[1::2], strict=True)
            return f"~choice({', '.join(f'{expression(value)}: {expression(weight)}' for value, weight in pairs)})"
        case ast.Draw(law, args):
            return f"~{law}({expressions(args)})"


def expressions(exprs: tuple[ast.Expr, ...]) -> str:
    """Expressions between commas."""
    return ", ".join(expression(e) for e in exprs)


def _index(index: ast.Expr | None) -> str:
    return "" if index is None else f"[{expression(index)}]"


def _reference(reference: ast.Reference) -> str:
    return reference.name + _index(reference.index)


def _clause(word: str, expr: ast.Expr | None) -> str:
    """` word (expr)`, or nothing."""
    return "" if expr is None else f" {word} ({expression(expr)})"


def statement(s: ast.Statement) -> str:
    """A statement that holds no block, and the header of one that does (up to its `{`)."""
    match s:
        case ast.Turn():
            return "turn;"
        case ast.End():
            return "end;"
        case ast.Set(name, value):
            return f"set {name} = {expression(value)};"
        case ast.Observe(name, value):
            return f"observe {name} = {expression(value)};"
        case ast.Grow(pool, units):
            return f"grow {_reference(pool)} ({expression(units)});"
        case ast.Drop(pool):
            return f"drop {_reference(pool)};"
        case ast.Run(stage, phase, work, growing):
            tail = f" growing {_reference(growing)}" if growing else ""
            return f"run {_reference(stage)}{f' {phase}' if phase else ''} ({expression(work)}){tail};"
        case ast.Choose(name, count, keys):
            return f"choose {name} in {expression(count)} by ({expressions(keys)});"
        case ast.Branch(probability):
            return f"branch ({expression(probability)})"
        case ast.Loop():
            return "loop"
        case ast.Hold(parts, reuse):
            return f"hold {', '.join(_hold_part(part) for part in parts)}{_clause('reuse', reuse)}"


def _hold_part(part: ast.HoldPart) -> str:
    return f"{_reference(part.pool)} ({expression(part.units)}){_clause('reserve', part.reserve)}"


def hold_lines(hold: ast.Hold, width: int) -> list[str]:
    """The header of a hold over several lines, aligned behind the keyword; what is still too wide is broken up."""
    lines: list[str] = []
    for part in hold.parts:
        lines += _part_lines(part, width - len(_UNDER))
        lines[-1] += ","
    lines[-1] = lines[-1].removesuffix(",")
    if hold.reuse:
        lines += _braced("reuse", hold.reuse, width - len(_UNDER))
    return ["hold " + lines[0], *(_UNDER + line for line in lines[1:])]


_UNDER = " " * len("hold ")


def _part_lines(part: ast.HoldPart, width: int) -> list[str]:
    whole = _hold_part(part)
    if len(whole) < width:
        return [whole]
    lines = _braced(_reference(part.pool), part.units, width)
    return lines + ["  " + line for line in _braced("reserve", part.reserve, width - 2)] if part.reserve else lines


def _braced(word: str, expr: ast.Expr, width: int) -> list[str]:
    """`word (expression)`, broken up where it is too wide."""
    start = f"{word} ("
    inner = broken(expr, width - len(start) - 1)
    return _hung(start, [*inner[:-1], inner[-1] + ")"])


def _hung(start: str, lines: list[str]) -> list[str]:
    """Lines of which the first follows `start` and the others stand below its end."""
    return [start + lines[0], *(" " * len(start) + line for line in lines[1:])]


def broken(expr: ast.Expr, width: int) -> list[str]:
    """An expression over several lines where one is too narrow: after the commas of a call, before an operator."""
    text = expression(expr)
    if len(text) < width:
        return [text]
    match expr:
        case ast.Call(name, args) if len(args) > 1:
            start = f"{name}("
            lines = [line for arg in args for line in _ended(broken(arg, width - len(start) - 1), ",")]
            return _hung(start, _ended(_ended(lines, "", ","), ")"))
        case ast.Binary(op, left, right) if op not in _NO_CHAIN:
            level = _PRECEDENCE[op]
            first = broken(left, width) if _precedence(left) >= level else [_at_least(level, left)]
            plain = _precedence(right) > level
            rest = broken(right, width - len(op) - 1) if plain else [_at_least(level + 1, right)]
            return [*first, *_hung(f"{op} ", rest)]
        case _:
            return [text]


def _ended(lines: list[str], end: str, instead_of: str = "") -> list[str]:
    return [*lines[:-1], lines[-1].removesuffix(instead_of) + end]


def item(i: ast.Item) -> str:
    """An item that holds no braces, and the header of one that does (up to its `{`)."""
    match i:
        case ast.Let(name, value):
            return f"let {name} = {expression(value)};"
        case ast.Gauge(name, value):
            return f"gauge {name} = {expression(value)};"
        case ast.Stage(name, size, "step"):
            return f"stage {name}{_index(size)} : step"
        case ast.Stage(name, size, kind, argument):
            return f"stage {name}{_index(size)} : {kind}{'' if argument is None else f'({expression(argument)})'};"
        case ast.Pool(name, size):
            return f"pool {name}{_index(size)}"
        case ast.Workload():
            return "workload"
        case ast.Session():
            return "session"
        case ast.RunBlock():
            return "run"


Option = ast.PoolOption | ast.SpillOption | ast.StepOption | ast.RunOption | ast.Arrive | ast.Trace | ast.WorkloadBlock


def option(o: Option) -> str:
    """What stands in the braces of a pool, a step stage, the workload or the run; a workload block's header."""
    match o:
        case ast.PoolOption("admit", stage):
            return f"admit via {stage};"
        case ast.PoolOption(name, None, values):
            return f"{name} {expressions(values)};"
        case ast.PoolOption(name, "by", values):
            return f"{name} by ({expressions(values)});"
        case ast.PoolOption(name, word):
            return f"{name} {word};"
        case ast.SpillOption(tier, via, work, when):
            return f"spill {_reference(tier)} via {_reference(via)} ({expression(work)}){_clause('when', when)};"
        case ast.StepOption(name, value, word):
            return f"{name} {word if value is None else expression(value)};"
        case ast.RunOption(name, value):
            return f"{name} {expression(value)};"
        case ast.Arrive("none" | "trace" as kind):
            return f"arrive {kind};"
        case ast.Arrive(kind, amount, limit):
            tail = "" if limit is None else f" limit({expression(limit)})"
            return f"arrive {kind}({'' if amount is None else expression(amount)}){tail};"
        case ast.Trace(path, ordered, columns):
            tail = f" with ({expressions(columns)})" if columns else ""
            return f'trace "{path}"{" ordered" if ordered else ""}{tail};'
        case ast.WorkloadBlock(name):
            return name
