"""`serq solve`: the exact steady state of the program's Markov chain."""

from dataclasses import replace

import click

from serq.api.remarks import remarks
from serq.api.solved import METHODS, solve_program
from serq.cli.common import Common, common_options
from serq.cli.options import chain_options
from serq.cli.progress import exploring
from serq.cli.tables import table
from serq.ir.numbers import cut, rational, short
from serq.ir.program import Program
from serq.pipeline import Solved, SolveOptions

_WIDE = 10_000
_METHOD = "Elimination in a band (gth), p-adic lifting (dixon, rational), sparse factors (lu, doubles), or Storm."
_LAWS = "Second moments and quantiles of observed times, at any size or never (default: where the chain is small)."


@click.command("solve")
@common_options
@click.option("--exact", is_flag=True, help="Answer in rationals, whatever it takes.")
@click.option("--method", type=click.Choice(METHODS), default="auto", show_default=True, help=_METHOD)
@click.option("--states", "show_states", is_flag=True, help="Print the whole stationary vector.")
@click.option("--distributions/--no-distributions", "laws", default=None, help=_LAWS)
@chain_options()
def command(
    common: Common, solving: SolveOptions, exact: bool, method: str, show_states: bool, laws: bool | None
) -> None:
    """Solve a program's Markov chain exactly.

    Small chains are solved in rational numbers; --exact asks for them at any size. The exit status is 1 when the
    program is no finite Markov chain or has no steady state (every reason is printed).
    """
    program = common.load()
    options = replace(solving, exact=exact or None, method=method, distributions=laws)
    with exploring(common.quiet) as progress:
        result = solve_program(program, options, progress)
    common.emit(_text(program, result.solved, exact, show_states), result.to_dict(show_states))


def _text(program: Program, solved: Solved, exact: bool, show_states: bool) -> str:
    chain, solution = solved.chain, solved.solution
    size = f"{chain.size} states" + (f", {solved.recurrent} recurrent" if solved.recurrent < chain.size else "")
    out = [f"{program.name}: {size}, {len(chain.transitions)} transitions; {solution.method}"]
    out += remarks(chain)
    if solution.residual:
        bound = "" if solution.bound is None else f", error at most {solution.bound:.1e}"
        out.append(f"residual {solution.residual:.1e}{bound}")
    out += [f"check: {text}" for text in solution.checks]
    width = _WIDE if exact else 32
    known = [e for e in solved.estimates if e.value is not None]
    rows = [(e.measure, short(e.value, 10), cut(rational(e.value), width)) for e in known]
    text = "\n".join(out) + "\n\n" + table(rows, ("measure", "value", "exact"), right=(1,))
    silent = [e for e in solved.estimates if e.value is None]
    if silent:
        text += "\nno value:\n" + "".join(f"  {e.measure}: {e.reason}\n" for e in silent)
    if show_states:
        text += "\n" + _states(solved)
    return text


def _states(solved: Solved) -> str:
    rows = [
        (state, short(p, 10), rational(p))
        for state, p in zip(solved.chain.states, solved.solution.probabilities, strict=True)
    ]
    return table(rows, ("state", "probability", "exact"), right=(1,))
