"""The console script: one verb per job, each in its own file and imported only when it is used."""

import importlib
import os
import sys

import click

from serq.base.version import __version__
from serq.cli.failures import INTERRUPTED, Stops, run_and_report
from serq.cli.streams import prepare_streams

VERBS = (
    "check", "closed-form", "diff", "draw", "editor", "explain", "export", "fmt", "lift", "lint", "lsp",
    "models", "price", "replay", "run", "solve", "study", "trace",
)  # fmt: skip


class _Verbs(click.Group):
    """A group that imports a verb when it is asked for: `serq lint` must not pay for the solvers."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"serq.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="serq")
def cli() -> None:
    """Simulate, solve exactly and export serving deployments written as programs.

    FILE is a path to a program, or the name of one that ships with serQ (see `serq models`). Exit status: 0 done and
    everything agreed; 1 the answer is no; 2 the call is off; 3 the input does not load; 4 a limit was reached; 5 the
    program failed while running; 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit status."""
    if "_SERQ_COMPLETE" in os.environ:
        cli.main(prog_name="serq")
    stops = Stops()
    stops.install()
    prepare_streams()
    given = sys.argv[1:] if arguments is None else arguments
    status = run_and_report(cli, given, stops)
    if status == INTERRUPTED:
        os._exit(status)  # everything is said and every worker told to end: whoever pressed Ctrl-C waits for the prompt
    sys.exit(status)
