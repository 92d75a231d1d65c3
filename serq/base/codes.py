"""Every kind of diagnostic, from the classes themselves: there is no second list to keep in step."""

from collections.abc import Iterator

from serq.base.diagnostics import Diagnostic


def diagnostic_classes() -> tuple[type[Diagnostic], ...]:
    """The classes of the modules that are loaded, in the order of their codes; shared bases (no template) left out."""
    found = {cls for cls in _below(Diagnostic) if cls.template and cls.__module__.startswith("serq.")}
    return tuple(sorted(found, key=lambda cls: (cls.code, cls.__name__)))


def _below(cls: type[Diagnostic]) -> Iterator[type[Diagnostic]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from _below(sub)
