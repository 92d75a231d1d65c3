"""Where an expression stands, and what may be read and done there.

The table of context variables is the language reference's, section 2: each has a short and a long name and is readable
in a few places only; everywhere else its name is free.
"""

from dataclasses import dataclass
from typing import get_args

from serq.ir.expr import BuiltinName, ContextName

LONG_NAMES: dict[str, ContextName] = {
    "waiting": "queued", "present": "n", "residents": "nres", "decoders": "ndec", "kv_decode": "kvb",
    "kv_prefill": "kvp", "tokens": "ntok", "prefilled": "npre", "attention": "attn",
}  # fmt: skip
"""The long form of a context variable's name -> the short form."""

CONTEXT_NAMES: dict[str, ContextName] = {name: name for name in get_args(ContextName)} | LONG_NAMES
"""Every name of a context variable -> its short form."""

BUILTINS: tuple[BuiltinName, ...] = get_args(BuiltinName)
RESERVED = (*BUILTINS, "inf")
"""Names that nothing else may have."""

_ENTRY = frozenset[ContextName]({"size", "age", "last", "queued"})
_PLAN = frozenset[ContextName]({"nres", "ndec", "kvb", "kvp"})
_COST = _PLAN | frozenset[ContextName]({"ntok", "npre", "attn"})


def where_readable(name: ContextName) -> str:
    """The places where a context variable can be read, in words."""
    if name in _ENTRY:
        return "`evict by` keys and in `spill`"
    if name == "waited":
        return "`queue by` keys"
    if name == "n":
        return "the rate of a `ps` stage"
    if name in _PLAN:
        return "the budget, chunk and cost of a step stage"
    return "the cost of a step stage"


@dataclass(frozen=True, slots=True)
class Place:
    """What an expression may read and do.

    `constant` places read numbers and lets only. `session`: there is a session whose attributes can be read. `state`:
    stages and pools can be looked at. `time`: `now` can be read. `draws`: it is evaluated once, so it may draw.
    `cached`: inside the body of a hold. `computed`: inside a hold statement, header included.
    """

    what: str
    constant: bool = False
    session: bool = False
    state: bool = True
    time: bool = False
    draws: bool = False
    contexts: frozenset[ContextName] = frozenset()
    cached: bool = False
    computed: bool = True

    @property
    def readable(self) -> str:
        """What can be read where there is no session, in words."""
        return "observables such as `queue(STAGE)`" if self.state else "`now`" if self.time else "`n`"


def constant(what: str) -> Place:
    """A place whose value is calculated once, before anything runs."""
    return Place(what, constant=True)


def gauge(name: str) -> Place:
    """The function of the state that a gauge averages."""
    return Place(f"the gauge `{name}`")


RENEWAL_GAP = Place("the gap between arrivals", state=False, time=True, draws=True)
PS_RATE = Place("the rate of a `ps` stage", state=False, contexts=frozenset({"n"}))
BUDGET = Place("the budget of a step stage", time=True, contexts=_PLAN)
CHUNK = Place("the chunk of a step stage", time=True, contexts=_PLAN)
COST = Place("the cost of a step stage", time=True, contexts=_COST)
QUEUE_KEY = Place("a queue key", session=True, time=True, contexts=frozenset({"waited"}))
VICTIM_KEY = Place("a preemption key", session=True, time=True)
EVICTION_KEY = Place("an eviction key", session=True, time=True, contexts=_ENTRY)
SPILL = Place("a spill", session=True, time=True, draws=True, contexts=_ENTRY)
WORKLOAD_BLOCK = Place("the workload", session=True, time=True, draws=True, computed=False)
STATEMENT = Place("a session", session=True, time=True, draws=True, computed=False)


def hold_header(what: str, inside: bool) -> Place:
    """The units, `reserve` or `reuse` of a hold; `inside` another hold `cached` can be read, and is that one's."""
    return Place(what, session=True, time=True, cached=inside)
