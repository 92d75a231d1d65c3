"""The README says what is so: its commands, its output, its program, its links."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from serq.cli.main import cli
from serq.pipeline import load, load_text

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def marked(kind: str, name: str) -> str:
    """The block of text behind `<!-- kind: name -->`."""
    found = re.search(rf"<!-- {kind}: {name} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found, f"there is no block marked {kind}: {name}"
    return found[1]


@pytest.mark.parametrize("name", ["check", "test"])
def test_the_commands_that_continuous_integration_takes_are_one_line_each(name: str) -> None:
    assert len(marked("command", name).splitlines()) == 1
    assert marked("command", name).startswith("python -m pip install ")


def test_the_output_is_what_the_command_prints() -> None:
    assert marked("command", "check").rstrip().endswith("&& serq check mm1n")
    done = CliRunner().invoke(cli, ["check", "mm1n", "--quiet"])
    assert done.exit_code == 0
    assert done.stdout == marked("output", "check")


def test_the_program_shown_is_the_shipped_one() -> None:
    shown = re.search(r"```serq\n(.*?)```", README, re.DOTALL)
    assert shown
    program = load_text(shown[1]).program
    shipped = load(ROOT / "models/textbook/mm1n.sq").program
    assert program.code == shipped.code
    assert program.run == shipped.run
    assert [(c.name, c.folded.exact) for c in program.constants] == [
        (c.name, c.folded.exact) for c in shipped.constants
    ]


def test_a_first_result_is_in_the_first_screen() -> None:
    assert README.splitlines().index("```text") < 30


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (page.parent / target).exists(), target
