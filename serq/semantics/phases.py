"""The laws of work that a chain meets: each is numbered once, with its phases and their rates."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from serq.ir.chain import Approximation, Nearness, RateSymbol
from serq.ir.laws import Law, PhaseType, convolution, erlang_mixture, h2_probability, mean, phase_type
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
        self.rounded: dict[Approximation, None] = {}
        """Irrational parameters, each once."""
        self.replaced: dict[str, None] = {}
        """The laws, by name, that something stands for."""
        self._fixed: dict[Fraction, Amount] = {}
        self._erlang = erlang
        self._codes: dict[object, int] = {}
        self._symbol_codes: dict[tuple[str, Fraction], int] = {}

    def problem(self, work: Any) -> str | None:
        """Why this is no work of a chain, in words, or None."""
        if isinstance(work, Amount):
            return None if work.code >= 0 else self._amount_problem(work)
        if work != work or work < 0 or work in (float("inf"),):
            return "it is negative" if work < 0 else "it is not finite"
        return None if work == 0 or self._erlang is not None else "it is a fixed amount, not a phase-type draw"

    def _amount_problem(self, work: Amount) -> str | None:
        if (len(work.terms) != 1 or work.constant != 0) and self._erlang is None:
            return "it is more than a finite factor times one draw"
        if work.constant < 0 or any(factor < 0 for _, factor in work.terms):
            return "it is negative" if len(work.terms) == 1 and work.constant == 0 else "it may be negative"
        for draw, factor in work.terms:
            law = _scaled(draw.law, factor)
            if law.name == "uniform" and law.args[0] < 0:
                return "it may be negative"
            if mean(law) != 0 and self._form_of(law) is None:
                return f"~{draw.law.name} is not phase-type"
        return None

    def _form_of(self, law: Law) -> PhaseType | None:
        """The phase-type form of a law, or of what stands for it."""
        form = phase_type(law)
        if form is None and self._erlang is not None:
            form = erlang_mixture(law, self._erlang)
            if form is not None:
                self.replaced.setdefault(law.name)
        return form

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
        """Whether an Erlang law, or a mixture of them, stands for some law that is not phase-type."""
        return bool(self._fixed or self.replaced)

    def irrational(self, kind: Nearness, what: str) -> None:
        """It is remembered that a rational stands for a parameter that is none."""
        self.rounded.setdefault(Approximation(kind, what))

    def approximations(self) -> list[Approximation]:
        """What was put in the place of what."""
        texts = []
        if self._fixed or "det" in self.replaced:
            texts.append(f"an Erlang law of {self._erlang} phases and the same mean stands for fixed work")
        if "uniform" in self.replaced:
            texts.append(
                f"a mixture of Erlang laws of up to {self._erlang} phases and the same mean stands for ~uniform"
            )
        return [*self.rounded, *(Approximation(Nearness.PHASES, text) for text in texts)]

    def _law(self, amount: Amount) -> WorkLaw:
        form = self._form(amount)
        for draw, _ in amount.terms:
            if draw.law.name == "h2" and h2_probability(draw.law.args[1])[1]:
                what = f"the probability of a branch of ~h2 with cv2 = {draw.law.args[1]} is irrational"
                self.irrational(Nearness.RATIONAL, what)
        draw, factor = amount.terms[0]
        shown = draw.text if len(amount.terms) == 1 and amount.constant == 0 else None
        symbols = []
        for rate in form.rates:
            value = rational(rate)
            text = str(value) if shown is None else shown if factor == 1 else f"{shown} / ({factor})"
            symbols.append(self.symbol(text, value))
        start = tuple((i, rational(q)) for i, q in enumerate(form.start) if q > 0)
        return WorkLaw(amount, form, start, tuple(symbols))

    def _form(self, amount: Amount) -> PhaseType:
        """The form of the sum: those of its parts one after the other."""
        laws = [_scaled(draw.law, factor) for draw, factor in amount.terms]
        if amount.constant:
            laws.append(Law("det", (amount.constant,)))
        forms = [self._form_of(law) for law in laws if mean(law) != 0]
        whole, *others = [form for form in forms if form is not None]
        for form in others:
            whole = convolution(whole, form)
        return whole

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
    """The law of `factor` times a draw: its mean is multiplied, and both ends of a ~uniform are."""
    if law.name == "uniform":
        return Law("uniform", tuple(a * factor for a in law.args))
    place = _MEAN_PLACE.get(law.name)
    if place is None or factor == 1:
        return law
    return Law(law.name, tuple(a * factor if i == place else a for i, a in enumerate(law.args)))
