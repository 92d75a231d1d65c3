"""The answer of `serq price --do`: what one event that goes another way costs."""

from collections.abc import Iterator
from fractions import Fraction

from serq.api.priced import EventPriceResult
from serq.cli.tables import table
from serq.ir.expr import Number, double
from serq.ir.numbers import cut, rational, short, with_interval
from serq.ir.results import Estimate
from serq.semantics.estimate import student_quantile
from serq.studies.event_formulas import BLOCKS, Assumed
from serq.studies.event_price import EventAnswer, exact_remark, simulated_remark

_WHAT = (
    "what one such event adds: to an average over time its integral, to a rate the count, and to an average per\n"
    "event or passage what it rises by per unit of the event's probability"
)


def event_text(result: EventPriceResult) -> str:
    """The answer for a person."""
    answer = result.answer
    out = [f"{result.program.name}: do({answer.event}) once at line {answer.line}; {_rate(answer)}"]
    if answer.exact is not None:
        off = "" if isinstance(answer.exact.present, Fraction) else f" ({exact_remark(answer.exact)})"
        price = _both(answer.exact.present)
        out.append(f"price of one: {price} of session-time away from delays, all sessions together{off}")
        if len(answer.exact.by_number) > 1:
            out += [f"  with {n} away from delays: {_both(x)}" for n, x in answer.exact.by_number.items()]
    else:
        out.append("price of one, in session-time away from delays, all sessions together")
    text = "\n".join(out) + "\n"
    if answer.simulated is not None or answer.formulas:
        text += "\n" + table(tuple(_methods(answer)), ("by", "price", "which assumes"))
    if any(found.error for found in answer.formulas):
        text += "\nFormulas take the works that a run has shown: +- is what that leaves open (95%).\n"
    if answer.simulated is not None and answer.simulated.remark:
        text += f"\nnot sure: {answer.simulated.remark}\n"
    measures = _measures(result) if answer.exact is None or answer.simulated is not None else _solved(result)
    return text + (f"\n{_WHAT}\n\n{measures}" if measures else "") + _verdict(answer)


def _rate(answer: EventAnswer) -> str:
    if answer.exact is not None:
        rate = short(answer.exact.price.rate, 8)
    elif answer.simulated is not None:
        rate = with_interval(answer.simulated.rate)
    else:
        return "by formula"
    return f"the event happens {rate} times per unit of time"


def _methods(answer: EventAnswer) -> Iterator[tuple[str, str, str]]:
    """Side by side: what every method says, and what it assumes beyond the program."""
    if answer.exact is not None:
        yield "exact", short(answer.exact.present, 10), f"nothing ({exact_remark(answer.exact)})"
    elif answer.no_chain:
        yield "exact", "", f"no answer: {cut(answer.no_chain, 120)}"
    if answer.simulated is not None:
        yield "simulated", with_interval(answer.simulated.present), f"nothing ({simulated_remark(answer.simulated)})"
    for found in answer.formulas:
        if found.value is None:
            yield found.formula, "", f"no answer: {found.reason}"
        else:
            yield found.formula, _about(found), found.assumes


def _about(found: Assumed) -> str:
    """The price by a formula, to the digits that the works that were seen allow."""
    half = student_quantile(0.95, BLOCKS - 1) * found.error
    if not half:
        return short(found.value, 4)
    return with_interval(Estimate("", "closed form", found.value, "", half_width=half))


def _solved(result: EventPriceResult) -> str:
    exact = result.answer.exact
    assert exact is not None
    rows = [(name, short(x, 10), cut(rational(x))) for name, x in exact.price.measures.items() if x]
    return table(rows, ("measure", "price", "exact"), right=(1,))


def _measures(result: EventPriceResult) -> str:
    if result.answer.simulated is None:
        return ""
    rows = []
    for row in result.answer.agreement.rows[1:]:
        found = [e for e in (row.simulated, row.exact) if e is not None and e.value]
        if found:
            simulated = "" if row.simulated is None else with_interval(row.simulated)
            exact = "" if row.exact is None or row.exact.value is None else short(row.exact.value, 8)
            z = "" if row.z is None else f"{row.z:+.1f}"
            rows.append((row.measure.name, simulated, exact, z, "" if row.verdict == "one witness" else row.verdict))
    if result.answer.exact is None:
        return table([row[:2] for row in rows], ("measure", "simulated"))
    return table(rows, ("measure", "simulated", "exact", "z", "verdict"), right=(3,))


def _verdict(answer: EventAnswer) -> str:
    if answer.exact is None or answer.simulated is None:
        return ""
    agreement = answer.agreement
    rate = f"false alarm in the whole table: at most {agreement.false_alarm:g} (Holm, {agreement.tests} tests)"
    if agreement.agrees:
        return f"\nAGREES in {agreement.compared} measures\n{rate}\n"
    wrong = [row for row in agreement.rows if row.verdict == "disagrees"]
    return f"\nDISAGREES in {len(wrong)} measures; {wrong[0].measure.name}: {wrong[0].why}\n{rate}\n"


def _both(value: Number) -> str:
    exact = rational(value)
    return f"{cut(exact)} = {short(value, 10)}" if exact else short(double(value), 10)
