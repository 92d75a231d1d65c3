"""The catalogue of diagnostics: one class for each code, in the range of the stage that makes it."""

import importlib
import pkgutil

import serq
from serq.base.codes import diagnostic_classes
from serq.base.diagnostics import Diagnostic

RANGES = {
    "serq.syntax": range(1, 100),
    "serq.check": range(100, 500),
    "serq.traces": range(700, 800),
    "serq.semantics": range(500, 800),
    "serq.exporters": range(800, 900),
}
"""Where the codes of a package lie; packages that are not listed may use any."""


def every_class() -> tuple[type[Diagnostic], ...]:
    for module in pkgutil.walk_packages(serq.__path__, "serq."):
        if module.name not in ("serq.__main__",):
            importlib.import_module(module.name)
    return diagnostic_classes()


def test_no_two_classes_share_a_code() -> None:
    seen: dict[str, str] = {}
    for cls in every_class():
        assert seen.setdefault(cls.code, cls.__name__) == cls.__name__, f"{cls.code}: {seen[cls.code]}, {cls.__name__}"
    assert len(seen) > 100


def test_codes_lie_in_the_range_of_their_package() -> None:
    for cls in every_class():
        package = ".".join(cls.__module__.split(".")[:2])
        assert cls.code[:2] == "SQ"
        assert int(cls.code[2:]) in RANGES.get(package, range(1, 1000)), f"{cls.code} in {cls.__module__}"
