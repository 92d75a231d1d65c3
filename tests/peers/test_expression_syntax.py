"""Operators and parentheses: what is printed without needless parentheses means the same to the peer."""

import operator
import random
from fractions import Fraction

import peer

from serq.syntax import ast
from serq.syntax.wording import expression

ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
COMPARISONS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
LOGIC = ("&&", "||")
SEED, EXPRESSIONS = 20240607, 400


def generated(rng: random.Random, depth: int) -> ast.Expr:
    """An expression of small integers. The peer has one level of comparisons, so none stands directly in another."""
    if depth == 0 or rng.random() < 0.1:
        value = rng.randrange(4)
        return ast.Number(Fraction(value), str(value))
    kind = rng.choice(["arithmetic", "arithmetic", "comparison", "logic", "unary", "ternary", "call"])
    parts = [generated(rng, depth - 1) for _ in range(3)]
    match kind:
        case "arithmetic":
            return ast.Binary(rng.choice(sorted(ARITHMETIC)), parts[0], parts[1])
        case "comparison":
            left, right = (ast.Unary("!", p) if _compares(p) else p for p in parts[:2])
            return ast.Binary(rng.choice(sorted(COMPARISONS)), left, right)
        case "logic":
            return ast.Binary(rng.choice(LOGIC), parts[0], parts[1])
        case "unary":
            return ast.Unary(rng.choice("-!"), parts[0])
        case "ternary":
            return ast.Ternary(*parts)
        case _:
            return ast.Call(rng.choice(["min", "max"]), tuple(parts[:2]))


def _compares(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Binary) and expr.op in COMPARISONS


def value(expr: ast.Expr) -> int:
    """What the tree means, in a few lines that owe nothing to the program's own evaluator."""
    match expr:
        case ast.Number(number):
            return int(number or 0)
        case ast.Unary("-", operand):
            return -value(operand)
        case ast.Unary("!", operand):
            return int(not value(operand))
        case ast.Binary("&&", left, right):
            return int(bool(value(left)) and bool(value(right)))
        case ast.Binary("||", left, right):
            return int(bool(value(left)) or bool(value(right)))
        case ast.Binary(op, left, right) if op in ARITHMETIC:
            return ARITHMETIC[op](value(left), value(right))
        case ast.Binary(op, left, right):
            return int(COMPARISONS[op](value(left), value(right)))
        case ast.Ternary(test, then, otherwise):
            return value(then) if value(test) else value(otherwise)
        case ast.Call(name, args):
            return {"min": min, "max": max}[name](value(a) for a in args)
    raise AssertionError(expr)


def test_the_peer_reads_printed_expressions_as_the_same_trees() -> None:
    rng = random.Random(SEED)
    trees = [generated(rng, 4) for _ in range(EXPRESSIONS)]
    observes = "\n".join(f"  observe v{i} = {expression(tree)};" for i, tree in enumerate(trees))
    program = f"stage s : delay;\nworkload {{ arrive batch(1); }}\nsession {{\n{observes}\n  run s (1);\n}}\n"
    (report,) = peer.run([peer.Job(program, horizon=2, warmup=0)])
    means = [report["observes"][f"v{i}"]["mean"] for i in range(EXPRESSIONS)]
    assert means == [value(tree) for tree in trees]
    assert len(set(means)) > 10
