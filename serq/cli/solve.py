"""`serq solve`: the exact steady state of the program's Markov chain."""

from dataclasses import replace
from fractions import Fraction

import click

from serq.api.passed import TransientResult
from serq.api.remarks import remarks
from serq.api.solved import METHODS, solve_question
from serq.base.errors import UsageError
from serq.cli.common import Common, common_options, load
from serq.cli.options import TIME, chain_options
from serq.cli.passing import passing_text
from serq.cli.progress import exploring
from serq.cli.symbolic import symbolic_answer
from serq.cli.tables import table
from serq.ir.numbers import cut, holding, near_one, rational, short
from serq.ir.program import Program
from serq.pipeline import Solved, SolveOptions
from serq.semantics.metastability import Metastability
from serq.semantics.near_values import near_number
from serq.studies.derivative import Derivatives
from serq.studies.passing import passing
from serq.studies.phase_type import Extrapolation

_WIDE = 10_000
_EXACT = "Answer in rationals: of up to 2000 states, of 10000 in a narrow band; refused where there are none."
_METHOD = (
    "Elimination in a band (gth), p-adic lifting (dixon, rational), sparse factors (lu, doubles), aggregation over "
    "levels (levels, doubles), or Storm."
)
_LAWS = "Second moments and quantiles of observed times, at any size or never (default: where the chain is small)."

_QUOTIENTS = ("symmetry", "dead-values", "service-order", "pinned-ranks")
_LUMPING = "Say what was lumped and, of a small chain, whether fewer states would do."
_UNLUMPED = "Do without one of the exact lumpings (repeatable): the chain is larger, the answers are the same."
_MEMORY = "Give up when a large chain needs more than so many megabytes (default: a quarter of the machine's)."
_METASTABILITY = "Whether the chain switches rarely between two conditions, and how often."
_SYMBOLIC = "The measures as formulas in the constants of the rates (small chains)."
_TRANSIENT = "The measures at time T instead of in the long run."
_INITIAL = "Begin in the long run's states of that kind, such as 'stage.svc.number >= 3'."
_UNTIL = "The mean time until states of that kind are entered; with --transient, the probability that they are by T."
_DERIVATIVE = "How fast every measure changes with this `let` (repeatable)."


@click.command("solve")
@common_options
@click.option("--exact", is_flag=True, help=_EXACT)
@click.option("--method", type=click.Choice(METHODS), default="auto", show_default=True, help=_METHOD)
@click.option(
    "--states",
    "show_states",
    is_flag=True,
    help="Print the whole stationary vector (of a queue without a limit its front).",
)
@click.option("--distributions/--no-distributions", "laws", default=None, help=_LAWS)
@click.option("--derivative", "constants", multiple=True, metavar="NAME", help=_DERIVATIVE)
@click.option("--metastability", "stable", is_flag=True, help=_METASTABILITY)
@click.option("--transient", "time", type=TIME, metavar="T", help=_TRANSIENT)
@click.option("--initial", metavar="STATES", help=_INITIAL)
@click.option("--until", metavar="STATES", help=_UNTIL)
@click.option("--symbolic", is_flag=True, help=_SYMBOLIC)
@click.option(
    "--const-open", "opened", metavar="NAMES", help="The constants, comma-separated, that --symbolic leaves open."
)
@click.option("--lumping", type=click.Choice(("report",)), help=_LUMPING)
@click.option("--without-lumping", "unlumped", type=click.Choice(_QUOTIENTS), multiple=True, help=_UNLUMPED)
@click.option("--max-memory", type=click.IntRange(min=1), metavar="MB", help=_MEMORY)
@chain_options()
def command(
    common: Common,
    solving: SolveOptions,
    exact: bool,
    method: str,
    show_states: bool,
    laws: bool | None,
    constants: tuple[str, ...],
    stable: bool,
    time: float | None,
    initial: str | None,
    until: str | None,
    symbolic: bool,
    opened: str | None,
    lumping: str | None,
    unlumped: tuple[str, ...],
    max_memory: int | None,
) -> None:
    """Solve a program's Markov chain exactly.

    Small chains are solved in rational numbers; --exact asks for them in larger ones too. The exit status is 1 when the
    program is no finite Markov chain or has no steady state (every reason is printed).
    """
    program = common.load()
    options = replace(solving, exact=exact or None, method=method, distributions=laws)
    options = replace(options, unlumped=tuple(name.replace("-", "_") for name in unlumped))
    options = replace(options, memory=None if max_memory is None else max_memory * 1_000_000)
    if symbolic:
        common.emit(*symbolic_answer(common, program, options, opened))
        return
    if opened is not None:
        raise UsageError("--const-open says what --symbolic leaves open")
    if time is not None or until is not None:
        with exploring(common.quiet) as progress:
            passed = passing(program, time, initial, until, options, progress)
        common.emit(passing_text(program, passed), TransientResult(program, passed).to_dict())
        return
    if initial is not None:
        raise UsageError("--initial says where --transient and --until begin")

    def reload(name: str, value: Fraction) -> Program:
        return load(common.file, (*common.sets, f"{name}={value}"), quiet=True)

    with exploring(common.quiet) as progress:
        result = solve_question(program, options, reload, constants, stable, lumping is not None, progress)
    text = _text(program, result.solved, exact, show_states) + "".join(_slopes(d, exact) for d in result.derivatives)
    text += _extrapolated(result.finer, solving.phase_type)
    text += "" if result.metastability is None else _conditions(result.metastability)
    text += "".join(f"\n{line}" for line in ("", *result.lumping)) if result.lumping else ""
    common.emit(text, result.to_dict(show_states))


def _extrapolated(finer: tuple[Extrapolation, ...], phases: int | None) -> str:
    if not finer or phases is None:
        return ""
    rows = [(x.measure, short(x.coarse), short(x.fine), short(x.value), short(x.error, 2)) for x in finer]
    header = ("measure", f"{phases} phases", f"{2 * phases} phases", "extrapolated", "off by about")
    irregular = [x.measure for x in finer if not x.regular]
    text = "\n" + table(rows, header, right=(1, 2, 3, 4))
    if irregular:
        text += (
            f"\nThe error does not halve with twice the phases, so extrapolation helps little: {', '.join(irregular)}\n"
        )
    return text


def _conditions(seen: Metastability) -> str:
    rows = [
        ("verdict", seen.verdict),
        ("slowest difference dies out in", holding(seen.relaxation, seen.relaxation_bound, 6)),
        ("the next one is faster by a factor of", holding(seen.gap, seen.gap_bound, 6)),
        ("digits of these two", "proved" if seen.proved else "estimated; those that hold are shown"),
        ("probability of the two conditions", " and ".join(short(x, 4) for x in seen.basins)),
        ("modes of the number away from delays", ", ".join(map(str, seen.modes))),
    ]
    if seen.switching is not None:
        rows.append(("mean times of switching, up and down", " and ".join(short(x, 6) for x in seen.switching)))
    return "\n" + table(rows, ("metastability", ""))


def _slopes(found: Derivatives, exact: bool) -> str:
    width = _WIDE if exact else 32
    rows = [(s.measure, short(s.derivative, 10), cut(rational(s.derivative), width)) for s in found.slopes]
    return f"\nd/d{found.constant}\n\n" + table(rows, ("measure", "derivative", "exact"), right=(1,))


def _text(program: Program, solved: Solved, exact: bool, show_states: bool) -> str:
    chain, solution = solved.chain, solved.solution
    size = f"{chain.size} states" + (f", {solved.recurrent} recurrent" if solved.recurrent < chain.size else "")
    out = [f"{program.name}: {size}, {len(chain.transitions)} transitions; {solution.method}"]
    out += remarks(chain)
    if solution.residual:
        bound = "" if solution.bound is None else f", error at most {solution.bound:.1e}"
        out.append(f"residual {solution.residual:.1e}{bound}")
    elif solution.bound:
        out.append(f"error at most {solution.bound:.1e}")
    out += [f"check: {text}" for text in solution.checks]
    width = _WIDE if exact else 32
    known = [e for e in solved.estimates if e.value is not None]
    rows = [(e.measure, short(e.value, 10), cut(rational(e.value) if e.is_exact else "", width)) for e in known]
    text = "\n".join(out) + "\n\n" + table(rows, ("measure", "value", "exact"), right=(1,))
    if solved.tail is not None:
        quantiles = ", ".join(f"{name} {n}" for name, n in solved.tail.quantiles.items())
        decay = near_one(solved.tail.decay)
        text += f"\nsessions present: {quantiles}; far up, n + {solved.tail.step} are {decay} times as likely as n\n"
    silent = [e for e in solved.estimates if e.value is None]
    if silent:
        text += "\nno value:\n" + "".join(f"  {e.measure}: {e.reason}\n" for e in silent)
    if show_states:
        text += "\n" + _states(solved)
    return text


def _states(solved: Solved) -> str:
    rows = [
        (state, short(p, 10), rational(near_number(solved.chain, p)))
        for state, p in zip(solved.chain.states, solved.solution.probabilities, strict=True)
    ]
    text = table(rows, ("state", "probability", "exact"), right=(1,))
    if solved.tail is None:
        return text
    front = short(sum(solved.solution.probabilities), 10)
    return f"{text}\nThese are the states of the front; the program is in one of them with probability {front}.\n"
