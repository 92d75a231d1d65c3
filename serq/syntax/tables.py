"""The tables of the grammar, made in advance: Lark takes 0.1 s for them, longer than all else that reads a program.

`python -m serq.syntax.tables` writes them anew when `grammar.lark` has changed. They are those of one version of Lark;
with another one, or another grammar, they are as good as absent, and Lark makes its own.
"""

import io
import zlib
from hashlib import blake2b
from pathlib import Path

import lark

from serq.syntax.build import Builder

_GRAMMAR = Path(__file__).with_name("grammar.lark")
_TABLES = Path(__file__).with_name("grammar.tables")


def parser() -> lark.Lark:
    """Lark's parser of the grammar (0.01 s, 0.1 s where it has to be made)."""
    grammar = _GRAMMAR.read_bytes()
    return _read(grammar) or _made(grammar)


def _made(grammar: bytes) -> lark.Lark:
    return lark.Lark(
        grammar.decode("utf-8"),
        parser="lalr",
        lexer="contextual",
        start=["program", "expr"],
        keep_all_tokens=True,
        maybe_placeholders=True,
        transformer=Builder(),
    )


def _read(grammar: bytes) -> lark.Lark | None:
    """The parser of the tables; None where there are none for this grammar and this Lark."""
    try:
        head, _, tables = _TABLES.read_bytes().partition(b"\n")
    except OSError:
        return None
    return lark.Lark.load(io.BytesIO(zlib.decompress(tables))) if head == _head(grammar) else None


def _head(grammar: bytes) -> bytes:
    """The first line of the tables: what they were made of, and by what."""
    return f"{blake2b(grammar, digest_size=16).hexdigest()} lark {lark.__version__}".encode()


def write() -> None:
    """Make the tables of the grammar as it is."""
    grammar, saved = _GRAMMAR.read_bytes(), io.BytesIO()
    _made(grammar).save(saved)
    _TABLES.write_bytes(_head(grammar) + b"\n" + zlib.compress(saved.getvalue(), 9))


if __name__ == "__main__":
    write()
