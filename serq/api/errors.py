"""What can be wrong with what somebody asks to be read."""

from collections.abc import Sequence
from typing import ClassVar, Self

from serq.base.diagnostics import Diagnostic
from serq.base.source import NOWHERE
from serq.base.suggestions import did_you_mean


class NoSuchModel(Diagnostic):
    """Neither a file nor a program that ships with serQ."""

    code: ClassVar[str] = "SQ701"
    template: ClassVar[str] = "there is no file `{name}`, nor does a model of that name ship with serQ"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    advice: str

    @classmethod
    def like(cls, name: str, shipped: Sequence[str]) -> Self:
        """The diagnostic, with the nearest name as its advice."""
        advice = did_you_mean(name, shipped) or "`serq models` lists what ships"
        return cls(span=NOWHERE, name=name, advice=advice)
