"""`serq lint`: every diagnostic of a program, and nothing else."""

import click

from serq.api.files import find_file
from serq.base.errors import LoadError
from serq.base.render import render_all
from serq.cli.common import Common, common_options, parse_sets
from serq.ir.provenance import versions


@click.command("lint")
@common_options
@click.pass_context
def command(ctx: click.Context, common: Common) -> None:
    """Check a program without running it.

    The exit status is 0 when there are at most warnings, 1 when there are errors.
    """
    from serq import pipeline

    try:
        linked = pipeline.load(find_file(common.file), parse_sets(common.sets))
        source, diagnostics = linked.program.source, linked.warnings
    except LoadError as error:
        source, diagnostics = error.source, error.diagnostics
    shown = [d for d in diagnostics if d.severity == "error" or not common.quiet]
    text = render_all(source, shown) + "\n" if shown else ""
    found = [d.to_dict(source.name) for d in shown]
    common.emit(text, versions("lint") | {"file": source.name, "diagnostics": found})
    if any(d.severity == "error" for d in diagnostics):
        ctx.exit(1)
