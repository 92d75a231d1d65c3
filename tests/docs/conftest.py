"""A `serq` that runs in this process, in a folder of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from serq.cli.failures import run_and_report
from serq.cli.main import cli


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., object]:
    """`run(words)`: exit status and everything that was printed."""
    monkeypatch.chdir(tmp_path)

    def call(words: list[str]) -> tuple[int, str]:
        capsys.readouterr()
        status = run_and_report(cli, words)
        return status, "".join(capsys.readouterr())

    return call
