"""serQ: a deployment that serves sessions, written as a program, simulated and solved exactly.

The names of the Python interface are imported when they are first used: `import serq` is light.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serq.api.model import Model as Model
    from serq.api.model import load as load
    from serq.api.model import loads as loads
    from serq.api.studied import study as study
    from serq.base.errors import DiagnosedError as DiagnosedError
    from serq.base.errors import SerqError as SerqError

from serq.base.version import __version__

_HOMES = {
    "Model": "serq.api.model",
    "load": "serq.api.model",
    "loads": "serq.api.model",
    "study": "serq.api.studied",
    "DiagnosedError": "serq.base.errors",
    "SerqError": "serq.base.errors",
}
"""Where the public names live."""

__all__ = ["DiagnosedError", "Model", "SerqError", "__version__", "load", "loads", "study"]


def __getattr__(name: str) -> object:
    """A public name, from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'serq' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
