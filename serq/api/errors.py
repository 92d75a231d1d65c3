"""What can be wrong with what somebody asks to be read."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import ClassVar, Self

from serq.base.diagnostics import Diagnostic
from serq.base.source import NOWHERE


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
        near = get_close_matches(name, shipped, n=1)
        advice = f"did you mean `{near[0]}`?" if near else "`serq models` lists what ships"
        return cls(span=NOWHERE, name=name, advice=advice)
