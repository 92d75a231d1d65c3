"""Defects put back on purpose: a test that is meant to find one must then fail, and say what the record says it said.

A defect is put back by compiling the module's source anew with a few characters changed, and giving the function that
they are in the new code. Whoever holds the function runs the defect; everything else stays as it is.
"""

import importlib
import inspect
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from serq.syntax import reader

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "docs" / "decisions" / "mutation-record.md"


@dataclass(frozen=True)
class Edit:
    """`before`, which stands once in `where`, becomes `after`.

    `where` is a function, such as `serq.semantics.pools:Pools.attempt`, or the path of a shipped program.
    """

    where: str
    before: str
    after: str


@dataclass(frozen=True)
class Mutation:
    """A defect: how it is put back, and the tests that fail with it, each with a part of its failing output."""

    name: str
    edits: tuple[Edit, ...]
    failing: Mapping[str, str]

    def __str__(self) -> str:
        return self.name


def read_table(path: Path) -> list[Mutation]:
    """The `[[mutation]]`s of a file."""
    table = tomllib.loads(path.read_text("utf-8"))["mutation"]
    return [Mutation(m["name"], tuple(Edit(**edit) for edit in m["edit"]), m["failing"]) for m in table]


class _Session:
    """A plug-in of a test run: the defect is there while the tests run, but not yet while they are collected."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self.changes = [_change(edit) for edit in edits]
        self.failed: dict[str, str] = {}
        self.passed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for change in self.changes:
                patch.setattr(*change)
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = report.longreprtext
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)


def assert_found(mutation: Mutation) -> None:
    """With the defect every one of its tests fails, in the way that is known."""
    session = _run(mutation.failing, mutation.edits)
    for test, said in mutation.failing.items():
        assert test in session.failed, f"{mutation}: {test} does not find it"
        assert said in session.failed[test], f"{mutation}: {test} fails otherwise:\n{session.failed[test]}"


def assert_passing(mutations: Iterable[Mutation]) -> None:
    """Without the defects the tests pass."""
    tests = {test for mutation in mutations for test in mutation.failing}
    session = _run(tests, ())
    assert session.failed == {}
    assert session.passed == tests


def assert_recorded(mutations: Iterable[Mutation]) -> None:
    """The record shows each defect with its tests and what they said."""
    record = RECORD.read_text("utf-8")
    shown = [part for m in mutations for part in (m.name, *map(_short, m.failing), *m.failing.values())]
    assert [part for part in shown if part not in record] == []


def _short(test: str) -> str:
    return test.rpartition("::")[2]


def _run(tests: Iterable[str], edits: Iterable[Edit]) -> _Session:
    session = _Session(edits)
    unused = [word for name in ("cacheprovider", "faulthandler", "terminal", "xdist") for word in ("-p", f"no:{name}")]
    settings = ["-c", str(ROOT / "pyproject.toml"), "--capture=no", *unused]
    status = pytest.main([*settings, *(str(ROOT / test) for test in tests)], plugins=[session])
    assert status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), f"{status!r}: is there such a test?"
    return session


def _change(edit: Edit) -> tuple[object, str, object]:
    """What to set to put the defect back: the owner of an attribute, its name, its value."""
    if edit.where.endswith(".sq"):
        return _changed_program(edit)
    function = _function(edit.where)
    return function, "__code__", _compiled_anew(function, edit)


def _function(where: str) -> FunctionType:
    module, _, path = where.partition(":")
    found: object = importlib.import_module(module)
    for name in path.split("."):
        found = inspect.getattr_static(found, name)
    function = inspect.unwrap(getattr(found, "__func__", found))  # type: ignore[arg-type]
    assert isinstance(function, FunctionType), where
    return function


def _compiled_anew(function: FunctionType, edit: Edit) -> CodeType:
    module = inspect.getmodule(function)
    assert module is not None
    assert module.__file__ is not None
    lines, first = inspect.getsourcelines(function)
    source = inspect.getsource(module).splitlines(keepends=True)
    source[first - 1 : first - 1 + len(lines)] = [_edited("".join(lines), edit)]
    pending: list[object] = [compile("".join(source), module.__file__, "exec")]
    while pending:
        code = pending.pop()
        if isinstance(code, CodeType):
            if code.co_qualname == function.__qualname__:
                return code
            pending += code.co_consts
    raise AssertionError(edit.where)


def _changed_program(edit: Edit) -> tuple[object, str, object]:
    path, read = ROOT / edit.where, reader._read
    changed = _edited(path.read_text("utf-8"), edit).encode()
    return reader, "_read", lambda name: changed if Path(name).resolve() == path else read(name)


def _edited(text: str, edit: Edit) -> str:
    assert text.count(edit.before) == 1, f"{edit.where} does not have once: {edit.before}"
    return text.replace(edit.before, edit.after)
