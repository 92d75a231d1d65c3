"""The back ends, and short texts without their first lines."""

import shutil

import pytest
from restricted_texts import NAMES

from serq.codegen import compile_module

BACKENDS = ["cpython", "llvm", pytest.param("c", marks=pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc"))]


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("SERQ_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


@pytest.fixture
def build(backend):
    """Compiles the lines of a text, by each back end."""

    def compiled(text, **options):
        return compile_module(NAMES + text, backend, **options)

    return compiled
