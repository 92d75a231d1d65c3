"""What a process pays for before it does anything: the modules that `lint` and `run` import."""

import json
import subprocess
import sys

import pytest

from serq.codegen import jit

PROGRAM = """stage s : fifo; workload { arrive poisson(0.5); }
session { set begun = now; run s (~exp(1)); observe response = now - begun; }
run { horizon 50; seed 1; }
"""
HEAVY = {
    "numpy", "scipy", "sympy", "networkx", "rich", "matplotlib", "pandas", "pyarrow", "stormpy", "flint", "asyncio",
    "multiprocessing", "unittest", "importlib.metadata",
    "serq.compare", "serq.exporters", "serq.closedforms", "serq.studies",
}  # fmt: skip
MODULES = """
import json, runpy, sys
try:
    runpy.run_module("serq", run_name="__main__")
except SystemExit as end:
    print(json.dumps([end.code, sorted(sys.modules)]), file=sys.stderr)
"""


def modules_of(tmp_path, *arguments):
    path = tmp_path / "program.sq"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *arguments, str(path)],
        capture_output=True, text=True, check=True, env={"SERQ_CACHE_DIR": str(tmp_path / "cache")},
    )  # fmt: skip
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert not code
    return set(modules)


def heavy(modules, more=()):
    return {m for m in modules if any(m == h or m.startswith(h + ".") for h in (*HEAVY, *more))}


def test_lint_imports_the_front_end_alone(tmp_path):
    modules = modules_of(tmp_path, "lint")
    assert "serq.check.link" in modules
    assert heavy(modules, ("llvmlite", "serq.semantics", "serq.engine", "serq.codegen")) == set()


@pytest.mark.skipif(not jit.available(), reason="llvmlite is missing")
def test_run_imports_no_heavy_module(tmp_path):
    for _ in range(2):  # a new program, then the same one from the cache
        modules = modules_of(tmp_path, "run")
        assert "llvmlite.binding" in modules
        assert heavy(modules, ("serq.semantics.machine", "serq.traces.reader")) == set()
    assert "serq.codegen.lower" not in modules
