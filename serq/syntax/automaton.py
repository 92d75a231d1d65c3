"""The LALR(1) automaton of the grammar and the words it knows: built once, read by the scanner and the parser."""

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from lark import Lark
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.parsers.lalr_parser_state import ParserState

from serq.syntax.tables import parser

Start = Literal["program", "expr"]

Place = Literal["item", "statement", "pool", "step", "workload", "run"]
"""The repetitions of the grammar: where one construct has ended and the next may begin."""

_FIRST_WORDS: dict[str, Place] = {
    "let": "item", "set": "statement", "cap": "pool", "budget": "step", "arrive": "workload", "horizon": "run",
}  # fmt: skip
"""A keyword of each repetition that begins nothing elsewhere."""


@dataclass(frozen=True)
class Automaton:
    """Lark's tables with what serQ reads from them."""

    lark: Lark

    @cached_property
    def literals(self) -> dict[str, str]:
        """Keywords and symbols by the name of their terminal."""
        return {t.name: t.pattern.value for t in self.lark.terminals if isinstance(t.pattern, PatternStr)}

    @cached_property
    def terminals(self) -> dict[str, str]:
        """The names of terminals by keyword or symbol."""
        return {text: name for name, text in self.literals.items()}

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The literals that are no words, the longest first."""
        return tuple(sorted((text for text in self.terminals if not text.isalpha()), key=len, reverse=True))

    def pattern(self, terminal: str) -> str:
        """The regular expression of a terminal that is no literal."""
        return next(t.pattern.value for t in self.lark.terminals if t.name == terminal)

    @cached_property
    def places(self) -> dict[int, Place]:
        """The states in which a new item, statement or option may begin."""
        start = self.begin("program")
        states = start.parser_state.parse_conf.parse_table.states
        found: dict[int, Place] = {}
        for state, actions in states.items():
            for word, place in _FIRST_WORDS.items():
                if actions.get(self.terminals[word], (None,))[0] is Shift:
                    found[state] = place
        return found

    def starters(self, place: Place) -> frozenset[str]:
        """The keywords that begin a construct of this place."""
        state = next(s for s, p in self.places.items() if p == place)
        actions = self.begin("program").parser_state.parse_conf.parse_table.states[state]
        words = (self.literals.get(name, "") for name, action in actions.items() if action[0] is Shift)
        return frozenset(word for word in words if word.isalpha())

    def fitting(self, state: ParserState[int]) -> frozenset[str]:
        """The terminals that the parse can take next, looking through the reductions that they would cause."""
        if state.position == state.parse_conf.end_state:
            return frozenset({"$END"})
        return frozenset(name for name in state.parse_conf.states[state.position] if _fits(state, name))

    def begin(self, start: Start) -> InteractiveParser:
        """A parse that waits for its first token."""
        return self.lark.parse_interactive(start=start)


def _fits(state: ParserState[int], terminal: str) -> bool:
    """Whether a terminal would be shifted; a merged look-ahead may reduce and then refuse it."""
    if not terminal.isupper():
        return False
    states, stack = state.parse_conf.states, list(state.state_stack)
    while terminal in states[stack[-1]]:
        action, target = states[stack[-1]][terminal]
        if action is Shift:
            return True
        del stack[len(stack) - len(target.expansion) :]
        stack.append(states[stack[-1]][target.origin.name][1])
        if stack[-1] == state.parse_conf.end_state:
            return True
    return False


@cache
def automaton() -> Automaton:
    """The automaton of `grammar.lark`, once in a process."""
    return Automaton(parser())


@cache
def token_pattern() -> re.Pattern[str]:
    """One alternative for each kind of token, and for the faults that the scanner knows by name."""
    known = automaton()
    number = known.pattern("NUMBER")
    groups = {
        "SPACE": known.pattern("SPACE"),
        "COMMENT": known.pattern("COMMENT"),
        "NAME": known.pattern("NAME"),
        "BAD_NUMBER": rf"(?>{number})[A-Za-z0-9_.]+",
        "NUMBER": number,
        "STRING": known.pattern("STRING"),
        "OPEN_STRING": r'"[^"\n]*',
        "BLOCK_COMMENT": r"/\*(?s:.)*?(?:\*/|\Z)",
        "SYMBOL": "|".join(re.escape(symbol) for symbol in known.symbols),
        "STRAY": r"[^\x00-\x7f]\w*|.",
    }
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in groups.items()))
