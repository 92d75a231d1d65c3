"""What may come next: for completion, where a text ends in the middle of something."""

from lark import UnexpectedToken

from serq.base.source import SourceFile
from serq.syntax.automaton import automaton
from serq.syntax.scan import tokens_of


def expected(source: SourceFile) -> frozenset[str] | None:
    """What may stand behind the text: keywords and symbols as they are written, and NAME, NUMBER, STRING.

    None where the text itself is no beginning of a program.
    """
    known = automaton()
    state = known.begin("program").parser_state
    states = state.parse_conf.states
    for token in tokens_of(source):
        keyword = known.terminals.get(token) if token.type == "NAME" else None
        if keyword in states[state.position]:
            token = token.update(type=keyword)
        try:
            state.feed_token(token, False)
        except UnexpectedToken:
            return None
    return frozenset(known.literals.get(name, name) for name in known.fitting(state))
