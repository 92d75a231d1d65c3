"""What went wrong in a compiled run, in the words of the reference."""

from serq.base.diagnostics import Diagnostic
from serq.engine.sites import Fault, Site
from serq.ir import program as p
from serq.ir.expr import LawName
from serq.ir.laws import Law, problem_of
from serq.semantics import errors


def diagnostic_of(program: p.Program, fault: Fault, commands: int) -> Diagnostic:
    """The fault in the words of the reference."""
    site, serial, value = fault.site, fault.serial, fault.values[0]
    stage = program.stages[fault.place].name if 0 <= fault.place < len(program.stages) else ""
    time = f"{fault.time:g}"
    match site.kind:
        case "work":
            return errors.BadWork(span=site.span, session=serial, stage=stage, problem=_work_problem(value))
        case "probability":
            return errors.BadProbability(span=site.span, session=serial, value=f"{value:g}")
        case "index":
            last = site.size - 1
            return errors.BadIndex(span=site.span, name=site.name, value=f"{value:g}", size=site.size, last=last)
        case "unset":
            return errors.UnsetAttribute(span=site.span, session=serial, name=site.name)
        case "capacity":
            what = f"capacity for n = {int(fault.values[1])}"
            return errors.BadStageValue(span=site.span, what=what, stage=stage, value=f"{value:g}")
        case "step":
            limit = ", and finite" if site.name == "cost" and value == value else ""
            shown = f"{value:g}"
            return errors.BadStageValue(span=site.span, what=site.name, stage=stage, value=shown, limit=limit)
        case "commands":
            return errors.ZeroTimeLoop(span=site.span, limit=commands, time=time, session=serial)
        case "replacement":
            return errors.EndlessReplacement(span=site.span, ended=fault.place, time=time)
        case "count":
            return errors.BadCount(span=site.span, session=serial, value=f"{value:g}")
        case "law":
            return _bad_law(fault)
        case "gap":
            text = f"0, {fault.place} times in a row" if value == 0.0 else f"{value:g}"
            return errors.BadGap(span=site.span, value=text)
        case _:
            return _pool_diagnostic(site, serial, program.pools[fault.place].name, fault.values)


def _pool_diagnostic(site: Site, serial: int, pool: str, values: tuple[float, ...]) -> Diagnostic:
    """The same for what happens to the holds of a session."""
    match site.kind:
        case "units":
            return errors.BadUnits(span=site.span, what=site.name, session=serial, pool=pool)
        case "twice":
            return errors.PoolTwice(span=site.span, session=serial, pool=pool)
        case "held":
            return errors.NotHeld(span=site.span, session=serial, pool=pool)
        case "never fits":
            needed, cap = f"{values[0]:g}", f"{values[1]:g}"
            return errors.NeverFits(span=site.span, session=serial, pool=pool, needed=needed, cap=cap)
        case "livelock":
            return errors.Livelock(span=site.span, session=serial, pool=pool, count=int(values[0]))
        case _:
            raise AssertionError(site)


def _work_problem(work: float) -> str:
    if work != work:
        return "it is NaN"
    return f"{work:g} is negative" if work < 0.0 else "it is infinite"


def _bad_law(fault: Fault) -> Diagnostic:
    site = fault.site
    args = fault.values[: site.size]
    law: LawName = site.name  # type: ignore[assignment]
    problem = problem_of(Law(law, args)) or ""
    return errors.BadLaw(span=site.span, law=law, arguments=", ".join(f"{a:g}" for a in args), problem=problem)
