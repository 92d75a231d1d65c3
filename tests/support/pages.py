"""The code blocks of a page of the documentation, and what it takes to run them."""

import io
import re
import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STATUS = re.compile(r"\s+# exit status (\d+)$")


@dataclass(frozen=True)
class Block:
    """A fenced block: the word behind the fence, what follows it there, and the text."""

    kind: str
    argument: str
    text: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page in their order."""
    found = []
    for info, text in _BLOCK.findall(page):
        kind, _, argument = info.strip().partition(" ")
        found.append(Block(kind, argument, text))
    return found


@dataclass(frozen=True)
class Ran:
    """A command of a page: its words (none for a block of Python), how it ended, and what it printed."""

    words: list[str]
    status: int
    out: str


Run = Callable[[list[str]], tuple[int, str]]
"""Runs `serq` with these words: exit status and what it printed."""


def follow(page: str, folder: Path, run: Run, mended: dict[str, str] | None = None) -> list[Ran]:
    """Do what a page says, from top to bottom, in a folder.

    A block `serq NAME` or `python NAME` is a file to write; `serq NAME broken` is one that does not load, and `serq
    NAME earlier` one for `serq lift`. A block `sh` holds one `serq` command a line, which must end with status 0 or
    with what a comment `# exit status N` behind it says. The other blocks `python` of a page are one program. A block
    `text output` is what the last command or block printed, where `...` is any lines or the rest of a line.

    `mended`: outputs that differ are put there, with what they should be, where they are shown in full.
    """
    done: list[Ran] = []
    names: dict[str, object] = {"__name__": "__page__"}
    for block in blocks(page):
        if block.kind in ("serq", "python") and block.argument:
            (folder / block.argument.split()[0]).write_text(block.text, "utf-8")
        elif block.kind == "sh":
            done += [_command(line, run) for line in block.text.splitlines() if line.strip()]
        elif block.kind == "python":
            done.append(_python(block.text, names))
        elif (block.kind, block.argument) == ("text", "output"):
            if mended is not None and "..." not in block.text and not matches(block.text, done[-1].out):
                mended[f"```text output\n{block.text}```"] = f"```text output\n{done[-1].out}```"
                continue
            assert matches(block.text, done[-1].out), f"{' '.join(done[-1].words) or 'Python'} printed\n{done[-1].out}"
    return done


def _command(line: str, run: Run) -> Ran:
    expected = _STATUS.search(line)
    words = shlex.split(_STATUS.sub("", line))
    assert words[0] == "serq", line
    status, out = run(words[1:])
    assert status == (int(expected[1]) if expected else 0), f"{line} ended with {status} and printed\n{out}"
    return Ran(words, status, out)


def _python(text: str, names: dict[str, object]) -> Ran:
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(text, "<page>", "exec"), names)
    return Ran([], 0, out.getvalue())


def matches(expected: str, found: str) -> bool:
    """Whether the text is the expected one; `...` stands for any lines or for the rest of a line, and spaces at line
    ends do not count.
    """
    return re.fullmatch("".join(map(_pattern, expected.splitlines())), _stripped(found)) is not None


def _pattern(line: str) -> str:
    if line == "...":
        return "(?:.*\n)*?"
    if line.endswith("..."):
        return re.escape(line.removesuffix("...")) + ".*\n"
    return re.escape(line.rstrip()) + "\n"


def _stripped(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
