"""`serq explain`: is the program a finite Markov chain, and if not, why."""

import click

from serq.base.errors import OutsideFragmentError
from serq.base.render import render_all
from serq.cli.common import Common, common_options
from serq.cli.provenance import provenance
from serq.ir.program import Program
from serq.pipeline import SolveOptions, explore_chain


@click.command("explain")
@common_options
@click.option("--limit", type=click.IntRange(min=1), help="Largest number of sessions present in an open program.")
@click.pass_context
def command(ctx: click.Context, common: Common, limit: int | None) -> None:
    """Say whether FILE is a finite Markov chain.

    If it is not, every reason is printed with its place and with what would admit the program; the exit status is 1.
    """
    program = common.load()
    try:
        chain = explore_chain(program, SolveOptions(limit=limit))
    except OutsideFragmentError as error:
        common.emit(render_all(error.source, error.diagnostics) + "\n", _no(program, error))
        ctx.exit(1)
    out = [f"{program.name} is a finite Markov chain: {chain.size} states, {len(chain.transitions)} transitions."]
    out += [f"lumped: {text}" for text in chain.lumped] + [f"truncated: {text}" for text in chain.truncated]
    data = provenance(program, "explain") | {
        "markov": True,
        "states": chain.size,
        "transitions": len(chain.transitions),
        "lumped": list(chain.lumped),
        "truncated": list(chain.truncated),
    }
    common.emit("\n".join(out) + "\n", data)


def _no(program: Program, error: OutsideFragmentError) -> dict[str, object]:
    reasons = [d.to_dict(error.source.name) for d in error.diagnostics]
    return provenance(program, "explain") | {"markov": False, "reasons": reasons}
