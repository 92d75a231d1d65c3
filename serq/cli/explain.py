"""`serq explain`: is the program a finite Markov chain, and if not, why."""

import click

from serq.base.errors import OutsideFragmentError
from serq.base.render import render_all
from serq.cli.common import Common, common_options
from serq.cli.options import chain_options
from serq.cli.progress import exploring
from serq.cli.remarks import remarks
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.pipeline import SolveOptions, explore_chain


@click.command("explain")
@common_options
@chain_options()
@click.pass_context
def command(ctx: click.Context, common: Common, solving: SolveOptions) -> None:
    """Say whether a program is a finite Markov chain.

    If FILE is none, every reason is printed with its place and with what would admit the program; the exit status is 1.
    """
    program = common.load()
    try:
        with exploring(common.quiet) as progress:
            chain = explore_chain(program, solving, progress)
    except OutsideFragmentError as error:
        common.emit(render_all(error.source, error.diagnostics) + "\n", _no(program, error))
        ctx.exit(1)
    out = [f"{program.name} is a finite Markov chain: {chain.size} states, {len(chain.transitions)} transitions."]
    out += remarks(chain)
    data = provenance(program, "explain") | {
        "markov": True,
        "states": chain.size,
        "transitions": len(chain.transitions),
        "lumped": list(chain.lumped),
        "truncated": list(chain.truncated),
        "approximated": list(chain.approximated),
    }
    common.emit("\n".join(out) + "\n", data)


def _no(program: Program, error: OutsideFragmentError) -> dict[str, object]:
    reasons = [d.to_dict(error.source.name) for d in error.diagnostics]
    return provenance(program, "explain") | {"markov": False, "reasons": reasons}
