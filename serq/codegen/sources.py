"""Which texts a program is made of, found without parsing them: what its cached object file depends on."""

import re
import sys
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from serq.base.version import __version__

_IMPORT = re.compile(r"^from (serq(?:\.\w+)+) import", re.MULTILINE)


def texts_of(text: str) -> list[str]:
    """The text itself and those of all modules of ours that it imports, directly or through others."""
    texts = [text]
    seen: set[str] = set()
    for one in texts:  # grows while it is read
        for name in _IMPORT.findall(one):
            spec = find_spec(name) if name not in seen else None
            seen.add(name)
            if spec is not None and spec.origin is not None:
                texts.append(Path(spec.origin).read_text(encoding="utf-8"))
    return texts


def compiler_fingerprint() -> str:
    """What the compiler itself is: the versions of serQ and Python, and its own source text."""
    digest = blake2b(digest_size=16)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return f"{__version__} {sys.version_info[:2]} {digest.hexdigest()}"
