"""From a parse that cannot go on to a diagnostic: a list of rules, tried in order; and how to go on.

Each rule looks at a `Situation` and either recognises a mistake that people make or passes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from serq.base.diagnostics import Diagnostic
from serq.base.source import Span
from serq.base.suggestions import question
from serq.syntax import errors
from serq.syntax.build import token_span
from serq.syntax.outline import at_start, begins_construct, body_of, form_of, meant, optional_clauses
from serq.syntax.situation import COMPARISONS, END, OPERATORS, Situation, closest, is_word


@dataclass(frozen=True)
class Mend:
    """How to go on: `insert` or `replace` by a symbol, `skip` the token, `resume` with the token as the beginning of
    a new construct, or `panic`: leave the construct and skip to where the next may begin.
    """

    way: Literal["insert", "replace", "skip", "resume", "panic"]
    symbol: str = ""


Finding = tuple[Diagnostic, Mend]
_PANIC = Mend("panic")


def explain(s: Situation) -> Finding:
    """The first rule that recognises the situation."""
    for rule in _RULES:
        finding = rule(s)
        if finding is not None:
            return finding
    return errors.Unexpected(span=s.span, found=s.found, expected=_expected(s)), _PANIC


def _construct(s: Situation) -> Finding | None:
    if s.head is not None or s.place is None or closest(str(s.token), optional_clauses(s)):
        return None
    return at_start(s), Mend("skip" if s.token == ";" else "panic")


def _single_expression(s: Situation) -> Finding | None:
    if s.place is None and END in s.fits and s.token not in ("=", "[", *COMPARISONS):
        return errors.TextAfterExpression(span=s.span, found=s.found), _PANIC
    return None


def _assignment(s: Situation) -> Finding | None:
    if s.token == "=" and s.after_expression:
        return errors.AssignmentInExpression(span=s.span), Mend("replace", "==")
    if s.fits == {"="} and s.token in ("==", ":"):
        found = ":=" if s.token == ":" else "=="
        mend = Mend("skip") if s.token == ":" and s.following == "=" else Mend("replace", "=")
        return errors.ComparisonAsAssignment(span=s.span, word=s.head or "", found=found), mend
    return None


def _chained(s: Situation) -> Finding | None:
    if s.token in COMPARISONS and "&&" in s.fits:
        return errors.ChainedComparison(span=s.span, operator=str(s.token)), Mend("replace", "&&")
    return None


def _choice(s: Situation) -> Finding | None:
    if s.token in (",", ")") and s.fits == {":"} and "choice" in s.pending and s.pending[-1] != "?":
        return errors.ChoiceNeedsPairs(span=s.span), _PANIC
    return None


def _index(s: Situation) -> Finding | None:
    if s.token == "[" and s.after_expression and s.previous is not None and is_word(s.previous):
        return errors.IndexOutside(span=token_span(s.previous).to(s.span), name=s.after), _PANIC
    return None


_OPERATOR_WORDS = {"and": "&&", "or": "||", "mod": "%", "is": "==", "equals": "=="}


def _misspelt(s: Situation) -> Finding | None:
    """A word near a keyword that would fit, or a word of another language for an operator."""
    if not s.is_word:
        return None
    if s.after_expression and s.token in _OPERATOR_WORDS:
        symbol = _OPERATOR_WORDS[str(s.token)]
        advice = f"write `{symbol}`"
        return errors.UnknownWord(span=s.span, word=str(s.token), after=s.after, advice=advice), Mend("replace", symbol)
    if s.after_expression and s.previous == "not":
        return errors.UnknownWord(span=s.span, word=str(s.token), after="not", advice="`not` is written `!`"), _PANIC
    near = meant(str(s.token), frozenset(s.words))
    if near:
        advice = question(near)
        return errors.UnknownWord(span=s.span, word=str(s.token), after=s.after, advice=advice), Mend("replace", near)
    if s.words and all(text in s.words for text in s.fits):
        return errors.UnknownWord(span=s.span, word=str(s.token), after=s.after, advice=_one_of(s.words)), _PANIC
    return None


def _one_of(words: list[str]) -> str:
    quoted = [f"`{word}`" for word in words]
    return f"write {quoted[0]}" if len(quoted) == 1 else f"write one of {', '.join(quoted)}"


def _semicolon(s: Situation) -> Finding | None:
    if ";" in s.fits and s.previous is not None and (s.on_new_line or s.token == "}" or begins_construct(s)):
        line, column = s.previous.end_line or 0, s.previous.end_column or 0
        span = Span(line, column, line, column + 1)
        return errors.MissingSemicolon(span=span, after=s.after), Mend("insert", ";")
    return None


def _parentheses(s: Situation) -> Finding | None:
    if "(" not in s.fits or s.wants_expression or s.after_expression:
        return None
    form = form_of(s)
    return (
        (errors.MissingParentheses(span=s.span, what=form.what, owner=form.owner, form=form.text), _PANIC)
        if form
        else None
    )


def _block(s: Situation) -> Finding | None:
    if "{" not in s.fits or s.place is None:
        return None
    owner, what, advice = body_of(s)
    mend = Mend("resume") if begins_construct(s) else _PANIC
    return errors.MissingBlock(span=s.span, what=what, owner=owner, advice=advice), mend


def _run_inside(s: Situation) -> Finding | None:
    if s.place == "statement" and s.head == "run" and s.token == "{" and s.previous == "run":
        advice = "`run { horizon ...; }` stands beside the session; is a `}` missing above?"
        return errors.ItemInBlock(span=token_span(s.previous), word="run", advice=advice), _PANIC
    return None


def _name(s: Situation) -> Finding | None:
    if s.fits == {"NAME"} and s.previous is not None:
        advice = "write the name without parentheses" if s.token == "(" else "a name begins with a letter or `_`"
        return errors.MissingName(span=s.span, after=s.after, found=s.found, advice=advice), _PANIC
    return None


def _expression(s: Situation) -> Finding | None:
    if not s.wants_expression:
        return None
    if s.token == "+":
        advice = "there is no unary `+`"
    elif s.token == "=":
        advice = "equality is written `==`, at most `<=`, at least `>=`, unequal `!=`"
    elif s.token == ")" and s.previous == ",":
        advice = "remove the comma before it, or add an argument"
    elif s.token.type == "STRING":
        advice = "values are numbers: text stands only in `trace`"
    elif s.previous is not None and str(s.previous) in OPERATORS:
        advice = f"add what stands to the right of `{s.previous}`"
    else:
        advice = "write a number, a name, a call, or a draw such as `~exp(1)`"
    return errors.MissingExpression(span=s.span, found=s.found, advice=advice), _PANIC


def _expected(s: Situation) -> str:
    """What would fit, in words."""
    parts = []
    left = set(s.fits)
    for text, members in (
        ("an operator", OPERATORS),
        ("a name", frozenset({"NAME"})),
        ("a number", frozenset({"NUMBER"})),
        ("a file name in quotation marks", frozenset({"STRING"})),
        ("the end of the text", frozenset({END})),
    ):
        if members <= left or (text == "an operator" and "+" in left):
            parts.append(text)
            left -= members
    parts += [f"`{text}`" for text in sorted(left)]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


_RULES: tuple[Callable[[Situation], Finding | None], ...] = (
    _construct,
    _run_inside,
    _assignment,
    _chained,
    _index,
    _choice,
    _single_expression,
    _misspelt,
    _semicolon,
    _expression,
    _parentheses,
    _block,
    _name,
)
