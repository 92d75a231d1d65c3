"""The answer of `serq solve --transient` and `--until`: the chain before its steady state."""

from serq.api.remarks import remarks
from serq.cli.tables import table
from serq.ir.numbers import as_given, cut, rational, short
from serq.ir.program import Program
from serq.studies.passing import Passing


def passing_text(program: Program, found: Passing) -> str:
    """The answer for a person."""
    start = "its beginning" if found.initial is None else f"where {found.initial}"
    out = [f"{program.name}: {found.chain.size} states, from {start}", *remarks(found.chain)]
    if found.mean_time is not None:
        exact = rational(found.mean_time)
        mean = f"{cut(exact)} = {short(found.mean_time, 10)}" if exact else short(found.mean_time, 10)
        out.append(f"mean time until {found.until}: {mean}")
    elif found.ever is not None:
        exact = rational(found.ever)
        ever = f"{cut(exact)} = {short(found.ever, 10)}" if exact and not exact.isdigit() else short(found.ever, 10)
        out.append(f"{found.until} is entered with probability {ever} at all: there is no mean time")
    if found.chance is not None and found.time is not None:
        out.append(f"by time {as_given(found.time)} with probability {short(found.chance, 10)}")
    text = "\n".join(out) + "\n"
    if found.time is None:
        return text
    known = [e for e in found.estimates if e.value is not None]
    rows = [(e.measure, short(e.value, 10), "" if e.bound is None else f"{e.bound:.1e}") for e in known]
    text += f"\nat time {as_given(found.time)}\n\n" + table(rows, ("measure", "value", "error at most"), right=(1, 2))
    silent = [e for e in found.estimates if e.value is None]
    return text + ("\nno value:\n" + "".join(f"  {e.measure}: {e.reason}\n" for e in silent) if silent else "")
