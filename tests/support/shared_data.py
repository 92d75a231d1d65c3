"""Data of other people, which lies beside the checkout and is not ours to commit."""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared"


def shared(*parts: str) -> Path:
    """A file of the shared folder. Without it the test is skipped, and the reason printed; under CI=true it fails."""
    path = FOLDER.joinpath(*parts)
    if not path.exists():
        reason = f"needs {os.path.join('..', 'shared', *parts)}, which is not there"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        print(reason)
        pytest.skip(reason)
    return path
