"""Running a verb in this process."""

from dataclasses import dataclass

import pytest

from serq.cli.failures import run_and_report
from serq.cli.main import cli


@dataclass(frozen=True)
class Done:
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str


def serq(capsys: pytest.CaptureFixture[str], *arguments: object) -> Done:
    """Run `serq ARGUMENTS`."""
    capsys.readouterr()
    status = run_and_report(cli, [str(a) for a in arguments])
    out, err = capsys.readouterr()
    return Done(status, out, err)
