"""The console script: one verb per job, each in its own file and imported only when it is used."""

import importlib
import sys

import click

from serq import __version__
from serq.cli.failures import run_and_report

VERBS = ("check", "closed-form", "explain", "export", "fmt", "lint", "models", "price", "run", "solve")


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


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="serq")
def cli() -> None:
    """Simulate, solve exactly and export serving deployments written as programs.

    FILE is a path to a program, or the name of one that ships with serQ (see `serq models`).
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    sys.exit(run_and_report(cli, given))
