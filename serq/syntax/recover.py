"""Going on after a fault: leave the broken construct, skip to where the next may begin.

A block whose header is broken is read all the same, under a header made up in its place, so that faults inside of it
are found too.
"""

from lark import Token
from lark.parsers.lalr_interactive_parser import InteractiveParser

from serq.syntax.automaton import Place, automaton
from serq.syntax.outline import meant
from serq.syntax.situation import END, Situation, innermost

_HEADERS: dict[tuple[Place | None, str | None], tuple[str, ...]] = {
    ("statement", "hold"): ("hold", "NAME", "(", "NUMBER", ")"),
    ("statement", "loop"): ("loop",),
    ("statement", None): ("branch", "(", "NUMBER", ")"),
    ("item", "session"): ("session",),
    ("item", "workload"): ("workload",),
    ("item", "run"): ("run",),
    ("item", "pool"): ("pool", "NAME"),
    ("item", "stage"): ("stage", "NAME", ":", "step"),
    ("workload", None): ("init",),
}
"""Headers by place and keyword. `branch` may have an `else`, so it stands in for every unknown statement."""

_MADE_UP = {"NAME": "_", "NUMBER": "0"}


def symbol(text: str, near: Token) -> Token:
    """A token that nobody wrote, at the place of one that somebody did."""
    terminal = automaton().terminals.get(text, text)
    return Token(
        terminal,
        _MADE_UP.get(text, text),
        near.start_pos,
        near.line,
        near.column,
        near.line,
        near.column,
        near.start_pos,
    )


def after_panic(parse: InteractiveParser, there: Situation, tokens: list[Token], i: int, *, resume: bool) -> int:
    """Leave the construct; the index of the token to go on with."""
    at = innermost(parse)
    assert at is not None
    del parse.parser_state.state_stack[at + 1 :]
    del parse.parser_state.value_stack[at:]
    return i if resume else _skip(parse, there, tokens, i)


def _skip(parse: InteractiveParser, there: Situation, tokens: list[Token], i: int) -> int:
    starters = automaton().starters(there.place) if there.place else frozenset()
    for j in range(i, len(tokens)):
        token = tokens[j]
        if token == ";":
            return j + 1
        if token == "}" or token.type == END:
            return j
        if token == "{":
            return j if _make_up_header(parse, there, token) else _past_block(tokens, j)
        moved = j > i or there.head is not None
        if moved and token in starters and (j == 0 or tokens[j - 1].line != token.line):
            return j
    return len(tokens)


def _make_up_header(parse: InteractiveParser, there: Situation, brace: Token) -> bool:
    """Feed a header that fits the block which begins here; False when none is known, or it holds no statements."""
    starters = automaton().starters(there.place) if there.place else frozenset()
    keyword = there.head or meant(str(there.token), starters)
    if there.place == "statement" and (there.head or there.token) in automaton().starters("item"):
        return False
    header = _HEADERS.get((there.place, keyword)) or _HEADERS.get((there.place, None))
    if header is None:
        return False
    for text in header:
        parse.feed_token(symbol(text, brace))
    return True


def _past_block(tokens: list[Token], i: int) -> int:
    """The index behind the `}` that matches the `{` at i."""
    depth = 0
    for j in range(i, len(tokens)):
        depth += (tokens[j] == "{") - (tokens[j] == "}")
        if depth == 0:
            return j + 1
    return len(tokens)
