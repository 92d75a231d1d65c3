"""What people know of the language by heart or from elsewhere: forms of clauses, words of other languages."""

from dataclasses import dataclass

from serq.base.diagnostics import Diagnostic
from serq.base.suggestions import question
from serq.syntax import errors
from serq.syntax.automaton import Place, automaton
from serq.syntax.situation import Situation, closest

# -- what stands in parentheses --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """A clause whose expression stands in parentheses."""

    owner: str
    what: str
    text: str


_FORMS = {
    form.owner: form
    for form in (
        Form("branch", "probability", "branch (EXPR) { ... }"),
        Form("run", "work", "run STAGE (EXPR);"),
        Form("hold", "units", "hold POOL (EXPR) { ... }"),
        Form("grow", "units", "grow POOL (EXPR);"),
        Form("reserve", "units", "reserve (EXPR)"),
        Form("reuse", "prefix", "reuse (EXPR)"),
        Form("cache", "prefix", "cache (EXPR);"),
        Form("by", "keys", "by (EXPR, ...)"),
        Form("poisson", "rate", "arrive poisson (EXPR);"),
        Form("renewal", "gap", "arrive renewal (EXPR);"),
        Form("closed", "population", "arrive closed (EXPR);"),
        Form("batch", "size", "arrive batch (EXPR);"),
        Form("limit", "bound", "limit (EXPR)"),
        Form("fifo", "number of servers", "fifo (EXPR)"),
        Form("ps", "total rate", "ps (EXPR)"),
        Form("spill", "work", "spill POOL via STAGE (EXPR) when (EXPR);"),
        Form("when", "condition", "when (EXPR);"),
    )
}


def form_of(s: Situation) -> Form | None:
    """The clause that waits for its `(`: the keyword just before, or the construct's own."""
    keyword = s.previous if s.previous is not None and s.previous.type != "NAME" else None
    return _FORMS.get(str(keyword)) or _FORMS.get(s.head or "")


_BODIES = {
    "branch": ("body", "branch (EXPR) { ... }"),
    "hold": ("body", "hold POOL (EXPR) { ... }"),
    "pool": ("options", "pool NAME { ... }"),
    "stage": ("options", "stage NAME : step { ... }"),
    "workload": ("items", "workload { ... }"),
    "run": ("options", "run { ... }"),
}


def body_of(s: Situation) -> tuple[str, str, str]:
    """The construct that waits for its `{`: its keyword, what its body is, and how it is written."""
    owner = "else" if s.previous == "else" else s.head or ""
    if owner == "else" and s.token in ("branch", "if"):
        return owner, "body", "write `else { branch (EXPR) { ... } }`"
    what, form = _BODIES.get(owner, ("body", owner + " { ... }"))
    return owner, what, f"write `{form}`"


# -- the beginning of a construct ------------------------------------------------------------------------------------

_OWNERS: dict[Place, str] = {
    "pool": "a pool", "step": "a step stage", "workload": "the workload", "run": "`run { ... }`",
}  # fmt: skip

_HOMES: dict[Place, str] = {
    "item": "stands beside the session, not inside",
    "statement": "is a statement of `session { ... }`",
    "pool": "is an option of `pool NAME { ... }`",
    "step": "is an option of `stage NAME : step { ... }`",
    "workload": "stands in `workload { ... }`",
    "run": "is an option of `run { ... }`",
}

_CLAUSES = {
    "else": ("branch", "it follows directly on the `}` of its `branch`"),
    "cache": ("hold", "it follows directly on the `}` of its `hold`"),
    "reserve": ("hold", "it follows on the units of a pool: `hold POOL (EXPR) reserve (EXPR) { ... }`"),
    "reuse": ("hold", "it stands before the `{` of its `hold`"),
    "growing": ("run", "it stands before the `;` of its `run`"),
}

_ELSEWHERE = {
    "if": "branch", "when": "branch", "switch": "branch", "while": "loop", "for": "loop", "repeat": "loop",
    "forever": "loop", "return": "end", "exit": "end", "stop": "end", "leave": "end", "acquire": "hold",
    "seize": "hold", "allocate": "hold", "admit": "hold", "request": "hold", "release": "drop", "free": "drop",
    "record": "observe", "measure": "observe", "print": "observe", "serve": "run", "visit": "run", "wait": "run",
    "delay": "run", "sleep": "run", "var": "let", "const": "let", "param": "let", "define": "let", "resource": "pool",
    "memory": "pool", "server": "stage", "station": "stage", "node": "stage", "process": "session", "client": "session",
    "source": "workload", "arrivals": "workload", "simulate": "run", "capacity": "cap", "size": "cap", "units": "cap",
    "granularity": "block", "eviction": "evict", "duration": "horizon", "until": "horizon", "time": "horizon",
    "serial": "fifo", "fcfs": "fifo", "shared": "ps", "external": "delay", "infinite": "delay",
}  # fmt: skip
"""Words of other tools and of the lecture's form of the language, and what takes their place here."""


def at_start(s: Situation) -> Diagnostic:
    """The fault of a token that begins no item, statement or option."""
    assert s.place is not None
    if s.token == ";":
        return errors.StraySemicolon(span=s.span)
    starters = automaton().starters(s.place)
    if not s.is_word:
        beginnings = "a statement or `}`" if s.place == "statement" else f"one of {_listed(starters)}"
        return errors.Unexpected(span=s.span, found=s.found, expected=beginnings)
    word = str(s.token)
    if word in _CLAUSES:
        owner, advice = _CLAUSES[word]
        return errors.ClauseAlone(span=s.span, word=word, owner=owner, advice=advice)
    if s.place == "statement":
        return _no_statement(s, word)
    if s.place == "item" and word in automaton().starters("statement"):
        return errors.StatementOutside(span=s.span, word=word)
    advice = _home(word) or _advice(word, starters)
    if s.place == "item":
        return errors.UnknownItem(span=s.span, word=word, advice=advice)
    return errors.UnknownOption(span=s.span, owner=_OWNERS[s.place], word=word, advice=advice)


def begins_construct(s: Situation) -> bool:
    """Whether the token is a keyword that begins a construct of the same place."""
    return s.place is not None and str(s.token) in automaton().starters(s.place)


def optional_clauses(s: Situation) -> list[str]:
    """The keywords that would go on with the construct before: `else` after a branch, `cache` after a hold."""
    return [] if s.place is None else [word for word in s.words if word not in automaton().starters(s.place)]


def _no_statement(s: Situation, word: str) -> Diagnostic:
    if word in automaton().starters("item"):
        advice = f"`{word}` {_HOMES['item']}; is a `}}` missing above?"
        return errors.ItemInBlock(span=s.span, word=word, advice=advice)
    if s.following == "=":
        return errors.UnknownStatement(span=s.span, word=word, advice=f"write `set {word} = EXPR;`")
    advice = _home(word) or _advice(word, automaton().starters("statement"))
    return errors.UnknownStatement(span=s.span, word=word, advice=advice)


def _home(word: str) -> str:
    """Where a keyword belongs that begins something in another place."""
    for place, home in _HOMES.items():
        if word in automaton().starters(place):
            return f"`{word}` {home}"
    return ""


def meant(word: str, keywords: frozenset[str]) -> str | None:
    """The keyword that was probably meant."""
    elsewhere = _ELSEWHERE.get(word.lower())
    return elsewhere if elsewhere in keywords else closest(word, sorted(keywords))


def _advice(word: str, starters: frozenset[str]) -> str:
    near = meant(word, starters)
    return question(near) or f"one of {_listed(starters)}"


def _listed(words: frozenset[str]) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words))
