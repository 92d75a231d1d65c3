"""Has a chain a steady state, and if not, why not.

It has one when it ends, with probability 1, in one class of states in which something goes on.
"""

from collections.abc import Sequence
from fractions import Fraction

from serq.base.diagnostics import Diagnostic, Note
from serq.base.errors import LimitError, NoSteadyStateError
from serq.base.source import NOWHERE, SourceFile, Span
from serq.ir.chain import Chain
from serq.ir.packed import PackedTransitions
from serq.semantics.chain_errors import AllSessionsEnd, Deadlock, SeveralClasses
from serq.semantics.classes import Classes, ClosedClass, absorption, classify, packed_class


def recurrent_class(chain: Chain, source: SourceFile | None = None) -> Sequence[int]:
    """The states of the one recurrent class, in ascending order.

    Raises NoSteadyStateError when the chain is absorbed, deadlocks, or ends in one of several classes; `source` is
    the program's text, for the places of the diagnostics. A chain that is one state with nobody in it has a steady
    state, if a dull one.
    """
    if isinstance(chain.transitions, PackedTransitions):
        states = packed_class(chain.transitions)
        if states is not None:
            return states
    classes = classify(chain)
    only = classes.closed[0]
    if len(classes.closed) == 1 and (only.kind == "recurrent" or (only.kind == "ended" and not classes.transient)):
        return only.states
    text = source if source is not None else SourceFile(chain.name, "")
    raise NoSteadyStateError(text, _diagnose(chain, classes, text))


_SHOWN = 5
"""A chain may end in thousands of ways; this many are named."""


def _diagnose(chain: Chain, classes: Classes, source: SourceFile) -> list[Diagnostic]:
    mean_time, ends = _ends(chain, classes)
    kinds = {closed.kind for closed, _ in ends}
    if kinds == {"ended"}:
        return [AllSessionsEnd(span=NOWHERE, mean_time=mean_time)]
    found: list[Diagnostic] = []
    if len(ends) > 1:
        notes = [Note(message=f"with probability {chance}: {_describe(chain, closed)}") for closed, chance in ends]
        found.append(SeveralClasses(span=NOWHERE, count=len(ends), notes=_cut(notes)))
    deadlocks = [(closed, chance) for closed, chance in ends if closed.kind == "deadlock"]
    found += [_deadlock(chain, closed.states[0], chance, source) for closed, chance in deadlocks[:_SHOWN]]
    return found


def _ends(chain: Chain, classes: Classes) -> tuple[str, list[tuple[ClosedClass, str]]]:
    """The mean time until the chain has ended somewhere, and the closed classes with their probabilities, the
    likeliest first.
    """
    try:
        result = absorption(chain, classes)
    except LimitError:
        chance = "1" if len(classes.closed) == 1 else "not computed"
        return "unknown length", [(closed, chance) for closed in classes.closed]
    ends = sorted(zip(classes.closed, result.probabilities, strict=True), key=lambda end: (-end[1], end[0].states))
    return _number(result.mean_time), [(closed, _number(chance)) for closed, chance in ends]


def _cut(notes: Sequence[Note]) -> tuple[Note, ...]:
    if len(notes) <= _SHOWN:
        return tuple(notes)
    return (*notes[:_SHOWN], Note(message=f"and {len(notes) - _SHOWN} more"))


def _deadlock(chain: Chain, state: int, chance: str, source: SourceFile) -> Deadlock:
    spans = [_line_span(source, line) for line in sorted(set(chain.lines[state]))]
    return Deadlock(
        span=spans[0],
        probability=chance,
        state=chain.states[state],
        notes=tuple(Note(message="and here", span=span) for span in spans[1:]),
    )


def _line_span(source: SourceFile, line: int) -> Span:
    text = source.line(line)
    start = len(text) - len(text.lstrip())
    return Span(line, start + 1, line, max(len(text.rstrip()), start + 1) + 1)


def _describe(chain: Chain, closed: ClosedClass) -> str:
    example = chain.states[closed.states[0]]
    match closed.kind:
        case "ended":
            return "all sessions have ended"
        case "deadlock":
            return f"deadlock, {example}"
        case "recurrent":
            others = len(closed.states) - 1
            return f"{len(closed.states)} states such as {example}" if others else f"for ever in {example}"


_LONGEST_FRACTION = 24


def _number(x: Fraction) -> str:
    """A fraction as itself where it is short, and as a decimal."""
    if x.denominator == 1:
        return str(x)
    exact, decimal = str(x), f"{float(x):.6g}"
    return f"{exact} = {decimal}" if len(exact) <= _LONGEST_FRACTION else decimal
