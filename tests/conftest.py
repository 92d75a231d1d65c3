"""Asserts in the shared helpers of the tests explain themselves as those of a test file do; no test has a deadline."""

from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite(*(path.stem for path in sorted((Path(__file__).parent / "support").glob("*.py"))))

settings.register_profile("any speed", deadline=None)
settings.load_profile("any speed")
