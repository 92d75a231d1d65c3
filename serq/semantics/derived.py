"""Constants that are made of others, as `let Z = 1 / mu;`: what depends on them depends on those others."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from serq.ir import expr as e
from serq.ir.chain import Chain, RateSymbol
from serq.ir.program import Program
from serq.semantics.symbols import constant_text

_NAME = re.compile(r"[A-Za-z_]\w*")


def definitions(program: Program, kept: Collection[str] = ()) -> dict[str, str]:
    """The constants that are arithmetic of others, with it as a text in those that are not; none of those `kept`."""
    out: dict[str, str] = {}
    for constant in program.constants:
        expr = constant.folded.expr
        text = constant_text(expr)
        made = text is not None and any(isinstance(node, e.Const) for node in e.walk(expr))
        if text is not None and made and constant.name not in kept:
            out[constant.name] = text
    for _ in out:  # a definition may use others, whatever their order
        out = {name: _replaced(text, out) for name, text in out.items()}
    return out


def in_terms_of_others(chain: Chain, made: Mapping[str, str]) -> Chain:
    """The chain, its rates with texts in the constants that are not made of others. `made` as from `definitions`."""
    symbols = tuple(RateSymbol(_replaced(symbol.text, made), symbol.value) for symbol in chain.symbols)
    return replace(chain, symbols=symbols)


def _replaced(text: str, made: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: f"({made[found[0]]})" if found[0] in made else found[0], text)
