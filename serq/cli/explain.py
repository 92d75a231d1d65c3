"""`serq explain`: is the program a finite Markov chain, and if not, why."""

import click

from serq.api.explained import explain_program
from serq.api.remarks import remarks
from serq.cli.common import Common, common_options
from serq.cli.options import chain_options
from serq.cli.progress import exploring
from serq.pipeline import SolveOptions


@click.command("explain")
@common_options
@chain_options()
@click.pass_context
def command(ctx: click.Context, common: Common, solving: SolveOptions) -> None:
    """Say whether a program is a finite Markov chain.

    If FILE is none, every reason is printed with its place and with what would admit the program; the exit status is 1.
    """
    program = common.load()
    with exploring(common.quiet) as progress:
        result = explain_program(program, solving, progress)
    text = [str(result), *(remarks(result.chain) if result.chain else ())]
    common.emit("\n".join(text) + "\n", result.to_dict())
    if not result.markov:
        ctx.exit(1)
