"""The answer of `serq price --do`: what one event that goes another way costs."""

from serq.cli.tables import table
from serq.ir.expr import Number
from serq.ir.numbers import cut, rational, short
from serq.ir.program import Program
from serq.studies.event import PricedEvent


def event_text(program: Program, priced: PricedEvent) -> str:
    """The answer for a person."""
    price = priced.price
    out = [
        f"{program.name}: do({priced.event}) once at line {priced.line}; "
        f"the event happens {short(price.rate, 8)} times per unit of time",
        f"price of one: {_both(priced.present)} of session-time away from delays, all sessions together",
    ]
    if len(priced.by_number) > 1:
        out += [f"  with {number} away from delays: {_both(x)}" for number, x in priced.by_number.items()]
    rows = [(name, short(x, 10), cut(rational(x))) for name, x in price.measures.items() if x]
    what = (
        "what one such event adds: to an average over time its integral, to a rate the count, and to an average per\n"
        "event or passage what it rises by per unit of the event's probability"
    )
    return "\n".join(out) + f"\n\n{what}\n\n" + table(rows, ("measure", "price", "exact"), right=(1,))


def _both(value: Number) -> str:
    exact = rational(value)
    return f"{cut(exact)} = {short(value, 10)}" if exact else short(value, 10)
