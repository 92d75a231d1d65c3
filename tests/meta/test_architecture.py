"""The direction of imports holds, every package is packaged, the linked folders are guarded, `import serq` is light."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINKED = {"serq.exporters": "exporters", "serq.closedforms": "closedforms", "serq.models": "models"}


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


def test_import_contracts_hold() -> None:
    done = _python("from importlinter.cli import lint_imports_command as c; c(['--no-cache'])")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_on_disk_is_listed() -> None:
    tops = {"serq": ROOT / "serq", **{name: ROOT / folder for name, folder in LINKED.items()}}
    found = set()
    for name, top in tops.items():
        for init in top.rglob("__init__.py"):
            if name == "serq" and init.relative_to(top).parts[0] in LINKED.values():
                continue
            found.add(".".join((name, *init.parent.relative_to(top).parts)))
    assert found == set(CONFIG["tool"]["setuptools"]["packages"])


@pytest.mark.parametrize("folder", LINKED.values())
def test_folder_is_a_link_and_refuses_its_bare_name(folder: str) -> None:
    assert (ROOT / "serq" / folder).is_symlink()
    assert (ROOT / "serq" / folder).resolve() == ROOT / folder
    done = _python(f"import {folder}")
    assert done.returncode != 0
    assert f"import serq.{folder}" in done.stderr


def test_import_serq_is_light() -> None:
    heavy = ("lark", "sympy", "scipy", "numpy", "stormpy", "click", "rich", "networkx", "flint")
    done = _python(f"import serq, sys; print([m for m in {heavy!r} if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    "path", sorted(p for d in ("serq", "exporters", "closedforms") for p in (ROOT / d).rglob("*.py"))
)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_functions_are_short() -> None:
    import ast

    long = []
    for top in ("serq", "exporters", "closedforms"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > 60:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not long
