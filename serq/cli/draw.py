"""`serq draw`: a program as a picture."""

import click

from serq.cli.common import Common, common_options
from serq.draw.formats import FORMATS, draw
from serq.ir.provenance import provenance


@click.command("draw")
@common_options
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), default="svg", show_default=True, help="Of the picture."
)
def command(common: Common, form: str) -> None:
    """Draw a program.

    The picture shows the deployment (workload, stages, pools) and the way of a session through it, with the
    probabilities of its branches. No other program takes part in an SVG; dot is for Graphviz, mermaid for Markdown.
    """
    program = common.load()
    text = draw(program, form)
    common.emit(text, provenance(program, "draw") | {"format": form, "text": text})
