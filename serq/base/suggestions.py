"""What somebody probably meant who wrote a name that there is not."""

from collections.abc import Iterable

_ALIKE = 0.6
"""How alike two names must be, from 0 to 1 (`difflib.SequenceMatcher.ratio`)."""


def nearest(name: str, known: Iterable[str], alike: float = _ALIKE) -> str | None:
    """The known name that is most like `name`; None where none is."""
    return next(iter(near(name, known, 1, alike)), None)


def near(name: str, known: Iterable[str], most: int = 3, alike: float = _ALIKE) -> list[str]:
    """The known names that are like `name`, the most alike first."""
    from difflib import get_close_matches  # only after a mistake

    return get_close_matches(name, list(known), n=most, cutoff=alike)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question, with the nearest of the known names; empty where none is near."""
    return question(nearest(name, known))


def question(*names: str | None) -> str:
    """Whether one of these was meant; empty where there are none."""
    shown = ", ".join(f"`{name}`" for name in names if name is not None)
    return f"did you mean {shown}?" if shown else ""
