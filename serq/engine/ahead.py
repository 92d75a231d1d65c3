"""Draws that are made before they are needed.

What a session draws next is often known when it draws: in a loop of service and thinking one time follows the other.
The next draw is then made at once and kept; when it is needed, nothing waits for the words of the stream and the
tables. The stream gives the same numbers in the same order, and what nobody needs any more ends with the session.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from serq.engine.streams import is_test
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

START = -1
"""In place of an instruction: the session's stream begins."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Of the one draw of an instruction: whether it has been made before, which draw is made behind it, and whether the
    stream is never drawn from after that.
    """

    made: bool = False
    following: e.Draw | None = None
    last: bool = False


NOTHING = Ahead()


def draws_ahead(program: p.Program, is_law: Callable[[e.Draw], bool]) -> Mapping[int, Ahead]:
    """The instructions, and `START`, at which draws have been made or are made ahead; `is_law` says whether the
    parameters of a draw are constants that make a law.

    A draw is made ahead where it follows, whatever happens, from each of those that may come before it. None is in
    programs with pools: sessions may be sent back there, and a spill may draw between two instructions.
    """
    if program.pools:
        return {}
    single = {pc: _single(program.code[pc]) for pc in range(len(program.code)) if _draws(program.code[pc])}
    after = {START: _next_draws(program, (0,), single)}
    after |= {pc: _next_draws(program, flow.successors(program, pc), single) for pc in single}
    certain: dict[int, e.Draw] = {}
    for pc, draw in single.items():
        before = [at for at, following in after.items() if pc in following]
        if draw is None or draw.law == "choice" or not is_law(draw):
            continue
        if all(after[at] == {pc} and (at == START or single[at] is not None) for at in before):
            certain[pc] = draw
    following = {at: certain[pc] for at, targets in after.items() for pc in targets if pc in certain}
    last = {at for at in following if not any(after[pc] for pc in after[at])}
    return {at: Ahead(at in certain, following.get(at), at in last) for at in (*certain, *following)}


def _next_draws(program: p.Program, starts: tuple[int, ...], drawing: Mapping[int, object]) -> frozenset[int]:
    """The instructions at which the first draw from here on may be made."""
    found, todo, seen = set(), list(starts), set(starts)
    while todo:
        pc = todo.pop()
        if pc in drawing:
            found.add(pc)
            continue
        fresh = set(flow.successors(program, pc)) - seen
        seen |= fresh
        todo += fresh
    return frozenset(found)


def _draws(instruction: p.Instruction) -> bool:
    """Whether the instruction may draw from the session's stream."""
    chance = isinstance(instruction, p.Branch) and not is_test(instruction.probability)
    return chance or any(_is_random(node) for x in flow.expressions(instruction) for node in e.walk(x))


def _single(instruction: p.Instruction) -> e.Draw | None:
    """The draw of an instruction that makes just this one, whenever it is carried out."""
    if not isinstance(instruction, p.Set | p.Observe | p.Run):
        return None
    nodes = [node for x in flow.expressions(instruction) for node in e.walk(x)]
    draws = [node for node in nodes if isinstance(node, e.Draw) and _is_random(node)]
    doubtful = any(
        isinstance(node, e.Cond) or (isinstance(node, e.Binary) and node.op in ("&&", "||")) for node in nodes
    )
    return draws[0] if len(draws) == 1 and not doubtful else None


def _is_random(node: e.Expr) -> bool:
    return isinstance(node, e.Draw) and node.law != "det"
