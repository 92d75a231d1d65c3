"""Where a parse stands when a token does not fit: all that the words of a diagnostic are chosen from."""

from dataclasses import dataclass

from lark import Token
from lark.parsers.lalr_interactive_parser import InteractiveParser

from serq.base.source import Span
from serq.base.suggestions import nearest
from serq.syntax.automaton import Place, automaton
from serq.syntax.build import token_span

END = "$END"
"""Lark's terminal for the end of the text."""

OPERATORS = frozenset({"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "?"})
COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})


@dataclass(frozen=True)
class Situation:
    """The token that does not fit, its neighbours, what would fit, and the construct around it."""

    token: Token
    previous: Token | None
    following: Token
    fits: frozenset[str]
    """Keywords and symbols as written, and NAME, NUMBER, STRING."""
    place: Place | None
    """The repetition in which the construct stands; None in a single expression."""
    pending: tuple[str, ...]
    """The tokens of the unfinished construct that no rule has taken up yet; empty where a construct may begin."""

    @property
    def head(self) -> str | None:
        """The construct's first keyword; None where a new construct may begin."""
        return self.pending[0] if self.pending else None

    @property
    def span(self) -> Span:
        """The token's place; a width of one at the end of the text."""
        return token_span(self.token)

    @property
    def is_word(self) -> bool:
        """Whether the token is a name or keyword."""
        return is_word(self.token)

    @property
    def found(self) -> str:
        """The token as a message names it."""
        if self.token.type == END:
            return "the end of the text"
        text = str(self.token)
        return f"`{text}`" if len(text) <= 40 else f"`{text[:37]}...`"

    @property
    def after(self) -> str:
        """The token before, as a message quotes it."""
        text = str(self.previous) if self.previous is not None else ""
        return text if len(text) <= 40 else text[:37] + "..."

    @property
    def on_new_line(self) -> bool:
        """Whether the token is the first of its line, or the text ends here."""
        return self.token.type == END or self.previous is None or self.token.line != self.previous.line

    @property
    def wants_expression(self) -> bool:
        """Whether a value would fit."""
        return "NUMBER" in self.fits

    @property
    def after_expression(self) -> bool:
        """Whether a value stands before, which an operator could continue."""
        return "+" in self.fits and not self.wants_expression

    @property
    def words(self) -> list[str]:
        """The keywords that would fit."""
        return sorted(text for text in self.fits if text.isalpha() and text.islower())


def is_word(token: Token) -> bool:
    """Whether a token is a name or keyword."""
    return str(token)[:1].isidentifier() and token.type not in ("NUMBER", "STRING")


def closest(word: str, candidates: list[str]) -> str | None:
    """The candidate that `word` was probably meant to be."""
    return nearest(word.lower(), candidates, alike=0.65)


def innermost(parse: InteractiveParser) -> int | None:
    """The index in the state stack of the innermost repetition that is still open; None in a single expression.

    A block whose `}` was read last may stand on the stack unreduced: its inside is no place to go on.
    """
    places, state = automaton().places, parse.parser_state
    closed = 0
    for i in range(len(state.state_stack) - 1, -1, -1):
        if not closed and state.state_stack[i] in places:
            return i
        below = state.value_stack[i - 1] if i else None
        if isinstance(below, Token):
            closed += (below == "}") - (below == "{")
    return None


def situation(parse: InteractiveParser, token: Token, previous: Token | None, following: Token) -> Situation:
    """Read the parse at its fault."""
    known = automaton()
    state = parse.parser_state
    at = innermost(parse)
    place = None if at is None else known.places[state.state_stack[at]]
    pending = tuple(str(value) for value in state.value_stack[at or 0 :] if isinstance(value, Token))
    fits = frozenset(known.literals.get(name, name) for name in known.fitting(state))
    complete = place is not None and fits.issuperset(known.starters(place))
    return Situation(token, previous, following, fits, place, () if complete else pending)
