"""Asserts in the shared helpers of the tests explain themselves as those of a test file do."""

from pathlib import Path

import pytest

pytest.register_assert_rewrite(*(path.stem for path in sorted((Path(__file__).parent / "support").glob("*.py"))))
