"""What the comparisons of engines share."""

import pytest


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """Machine code is compiled anew, not taken from the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SERQ_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
