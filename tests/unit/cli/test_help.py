"""The help of every verb, and the page of the documentation that is made of it.

Set `SERQ_UPDATE_GOLDENS=1` to write `docs/reference/cli.md` anew after a change of an option.
"""

import inspect
import os
import re
from pathlib import Path

import click
import pytest

from serq import __version__
from serq.cli.main import VERBS, cli

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"
BEGIN = "<!-- made of the help texts: everything below -->\n"


def commands(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    """A command and its subcommands, by full name."""
    found = [(name, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for sub in command.list_commands(context):
            child = command.get_command(context, sub)
            assert child is not None
            found += commands(child, f"{name} {sub}")
    return found


ALL = [pair for verb in VERBS for pair in commands(cli.get_command(click.Context(cli), verb), f"serq {verb}")]


def page() -> str:
    """Every command with its usage, its help and its options; independent of how click lays them out."""
    return "".join(section(name, command) for name, command in ALL)


def section(name: str, command: click.Command) -> str:
    arguments = [p.metavar or p.name.upper() for p in command.params if isinstance(p, click.Argument)]
    usage = " ".join([name, *(["VERB"] if isinstance(command, click.Group) else []), "[OPTIONS]", *arguments])
    rows = [f"| `{shown(p)}` | {meaning(p)} |" for p in options(command)]
    table = "\n| option | meaning |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    return f"\n## {name}\n\n`{usage}`\n\n{inspect.cleandoc(command.help)}\n{table}"


def options(command: click.Command) -> list[click.Option]:
    return [p for p in command.params if isinstance(p, click.Option) and not p.hidden]


def shown(option: click.Option) -> str:
    choices = "\\|".join(option.type.choices) if isinstance(option.type, click.Choice) else ""
    value = "" if option.is_flag else f" {option.metavar or choices}"
    return ", ".join(option.opts) + value


def meaning(option: click.Option) -> str:
    return option.help + (f" Default: {option.default}." if option.show_default and not option.is_flag else "")


def test_the_page_of_the_command_line_is_its_help() -> None:
    written = PAGE.read_text("utf-8")
    head, mark, body = written.partition(BEGIN)
    assert mark
    if os.environ.get("SERQ_UPDATE_GOLDENS"):
        PAGE.write_text(head + mark + page(), "utf-8")
    assert body == page()


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_help_reads_well(name: str, command: click.Command) -> None:
    for option in options(command):
        assert not shown(option).endswith(" "), f"{option.name} would show the name of a type: give it a metavar"
        assert option.help, f"{option.name} has no help"
        assert option.help.endswith(".")
    assert re.match(r"[A-Z][^.]*\.", command.help or "")


@pytest.mark.parametrize("verb", VERBS)
def test_the_list_of_verbs_cuts_no_summary(verb: str) -> None:
    summary = cli.get_command(click.Context(cli), verb).get_short_help_str(60)
    assert "..." not in summary


@pytest.mark.parametrize("verb", VERBS)
def test_help_costs_no_work(serq, verb) -> None:
    done = serq(verb, "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"Usage: serq {verb} ")
    assert serq(verb, "-h").out == done.out


def test_version_and_bare_call(serq) -> None:
    assert serq("--version").out == f"serq, version {__version__}\n"
    assert serq("--help").status == 0
    bare = serq()
    assert bare.status == 2
    assert "Usage: serq" in bare.err


def test_the_statuses_of_the_page_are_those_of_the_errors() -> None:
    from serq.base import errors
    from serq.cli.failures import INTERNAL, INTERRUPTED

    text = PAGE.read_text("utf-8")
    stated = {int(status) for status in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.SerqError)]
    assert stated == {c.exit_status for c in classes} | {0, INTERNAL, INTERRUPTED}
