"""The programs that ship with serQ: data, found by name."""

from dataclasses import dataclass
from pathlib import Path

if __name__ != "serq.models":
    raise ImportError("this package is imported as serq.models: import serq.models")


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """A program that ships with serQ. `name` is unique; `expectations` is the file of its known values."""

    name: str
    group: str
    path: Path

    @property
    def expectations(self) -> Path:
        """The `.toml` beside the program: expected values and their sources."""
        return self.path.with_suffix(".toml")

    @property
    def title(self) -> str:
        """The first sentence of the program's opening comment."""
        words: list[str] = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("//"):
                break
            for word in line.removeprefix("//").split():
                words.append(word)
                if word.endswith("."):
                    return " ".join(words)
        return " ".join(words)


def shipped() -> tuple[ShippedModel, ...]:
    """All shipped programs, by group and name."""
    root = Path(__file__).parent
    return tuple(ShippedModel(path.stem, path.parent.name, path) for path in sorted(root.glob("*/*.sq")))


def find(name: str) -> ShippedModel | None:
    """The shipped program called `name` or `group/name`."""
    for model in shipped():
        if name in (model.name, f"{model.group}/{model.name}"):
            return model
    return None
