"""The laws of work that a chain meets: each is numbered once, with its phases and their rates."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from serq.ir.chain import RateSymbol
from serq.ir.laws import Law, PhaseType, phase_type
from serq.semantics.symbols import Amount, Undrawn, rational


@dataclass(frozen=True, slots=True)
class WorkLaw:
    """A phase-type law of work. `start`: possible first phases with probabilities; `symbols`: per phase its rate."""

    amount: Amount
    phases: PhaseType
    start: tuple[tuple[int, Fraction], ...]
    symbols: tuple[int, ...]


class WorkLaws:
    """The laws by number, and the rate symbols that they use. `erlang`: phases that stand for a fixed amount."""

    def __init__(self, erlang: int | None = None) -> None:
        self.laws: list[WorkLaw] = []
        self.symbols: list[RateSymbol] = []
        self.rounded: list[str] = []
        self._fixed: dict[Fraction, Amount] = {}
        self._erlang = erlang
        self._codes: dict[object, int] = {}
        self._symbol_codes: dict[tuple[str, Fraction], int] = {}

    def problem(self, work: Any) -> str | None:
        """Why this is no work of a chain, in words, or None."""
        if isinstance(work, Amount):
            if work.code >= 0:
                return None
            if len(work.terms) != 1 or work.constant != 0:
                return "it is more than a finite factor times one draw"
            draw, factor = work.terms[0]
            if factor < 0:
                return "it is negative"
            scaled = _scaled(draw.law, factor)
            return None if phase_type(scaled) is not None or work.mean == 0 else f"~{draw.law.name} is not phase-type"
        if work != work or work < 0 or work in (float("inf"),):
            return "it is negative" if work < 0 else "it is not finite"
        return None if work == 0 or self._erlang is not None else "it is a fixed amount, not a phase-type draw"

    def code(self, work: Any) -> int:
        """The number of the law of an amount of work that has no problem and is not zero."""
        if isinstance(work, Amount) and work.code >= 0:
            return work.code
        amount = work if isinstance(work, Amount) else self._fixed_work(rational(work))
        key = amount.key
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = len(self.laws)
            self.laws.append(self._law(amount))
        amount.code = code
        return code

    def _fixed_work(self, work: Fraction) -> Amount:
        """The Erlang law that stands for a fixed amount."""
        amount = self._fixed.get(work)
        if amount is None:
            assert self._erlang is not None
            law = Law("erlang", (Fraction(self._erlang), work))
            amount = self._fixed[work] = Amount(((Undrawn(law, None), Fraction(1)),))
        return amount

    @property
    def stood_in(self) -> bool:
        """Whether an Erlang law stands for some fixed amount."""
        return bool(self._fixed)

    def _law(self, amount: Amount) -> WorkLaw:
        draw, factor = amount.terms[0]
        form = phase_type(_scaled(draw.law, factor))
        assert form is not None
        if form.rounded:
            self.rounded.append(f"the probability of a branch of ~h2 with cv2 = {draw.law.args[1]} is irrational")
        symbols = []
        for rate in form.rates:
            value = rational(rate)
            text = str(value) if draw.text is None else draw.text if factor == 1 else f"{draw.text} / ({factor})"
            symbols.append(self.symbol(text, value))
        start = tuple((i, rational(q)) for i, q in enumerate(form.start) if q > 0)
        return WorkLaw(amount, form, start, tuple(symbols))

    def symbol(self, text: str, value: Fraction) -> int:
        """The number of a rate symbol."""
        key = (text, value)
        code = self._symbol_codes.get(key)
        if code is None:
            code = self._symbol_codes[key] = len(self.symbols)
            self.symbols.append(RateSymbol(text, value))
        return code


_MEAN_PLACE = {"exp": 0, "erlang": 1, "h2": 0}


def _scaled(law: Law, factor: Fraction) -> Law:
    """The law of `factor` times a draw of a phase-type law: its mean is multiplied."""
    place = _MEAN_PLACE.get(law.name)
    if place is None or factor == 1:
        return law
    return Law(law.name, tuple(a * factor if i == place else a for i, a in enumerate(law.args)))
