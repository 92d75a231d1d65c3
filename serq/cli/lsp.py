"""`serq lsp`: the language server."""

import click

from serq.base.errors import UsageError


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Speak over standard streams, as it always does.")
def command(stdio: bool) -> None:
    """Serve an editor.

    The Language Server Protocol over standard input and output: diagnostics, hover, completion, definitions and layout
    of programs while they are written. It needs the extra lsp.
    """
    try:
        from serq.editors.server import serve
    except ImportError as error:
        raise UsageError(f"the language server needs {error.name}: pip install 'serq[lsp]'") from None
    serve()
