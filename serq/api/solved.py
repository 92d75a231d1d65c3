"""The exact steady state as an answer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from serq.api.tabular import Answers, estimates_table
from serq.base.errors import OutsideFragmentError
from serq.compare.laws import with_distributions
from serq.compare.open_formula import with_formula
from serq.ir.expr import Number
from serq.ir.numbers import as_json, estimate_json, rational
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate
from serq.pipeline import Solved, SolveOptions, explore_chain, solve_chain, solve_without_limit, unlimited
from serq.semantics.coarsest import lumping_report
from serq.semantics.metastability import Metastability
from serq.semantics.near_values import near_number
from serq.studies.conditions import conditions, conditions_data
from serq.studies.derivative import Derivatives, derivatives
from serq.studies.phase_type import Extrapolation, extrapolate, stands_in

if TYPE_CHECKING:
    from serq.semantics.open_tail import OpenTail  # named in a signature only: not every chain needs it

METHODS = ("auto", "direct", "gth", "dixon", "lu", "levels", "storm")
"""Ways to solve a chain; `auto` chooses by its size and shape."""

_ALWAYS_DOUBLES = {"lu": False, "levels": False}
"""Methods that give no rationals, however small the chain."""


@dataclass(frozen=True, repr=False)
class SolveResult(Answers):
    """A solved program: its chain, the stationary vector, and every measure.

    `derivatives` are those that were asked for, by constant; `metastability` is there when it was asked for,
    `finer` where phases stand for work that is not phase-type, `lumping` says what was lumped when that was asked.
    """

    program: Program
    solved: Solved
    derivatives: tuple[Derivatives, ...] = ()
    metastability: Metastability | None = None
    finer: tuple[Extrapolation, ...] = ()
    lumping: tuple[str, ...] = ()

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Every measure, exact where the solution is rational."""
        return self.solved.estimates

    @property
    def states(self) -> int:
        """Number of states of the chain."""
        return self.solved.chain.size

    def distribution(self) -> dict[str, object]:
        """The stationary probability of each recurrent state, by its readable text."""
        from serq.semantics.answers import distribution

        chain = self.solved.chain
        return {state: near_number(chain, p) for state, p in distribution(chain, self.solved.solution).items()}

    def to_dict(self, states: bool = False) -> dict[str, object]:
        """What `serq solve --json` prints; with `states` also the whole stationary vector."""
        chain, solution, tail = self.solved.chain, self.solved.solution, self.solved.tail
        data = provenance(self.program, "solve", "numpy", "scipy", "python-flint") | {
            "states": chain.size,
            "recurrent": self.solved.recurrent,
            "transitions": len(chain.transitions),
            "method": solution.method,
            "residual": solution.residual,
            "bound": solution.bound,
            "checks": list(solution.checks),
            "explored": chain.explored,
            "time": chain.timing,
            "lumped": list(chain.lumped),
            "lumping": list(self.lumping),
            "truncated": list(chain.truncated),
            "approximated": [a.text for a in chain.approximated],
            "measures": {e.measure: estimate_json(e) for e in self.estimates},
            "tail": None if tail is None else _tail(tail),
            "derivatives": {d.constant: {s.measure: _number(s.derivative) for s in d.slopes} for d in self.derivatives},
            "phase_type": {
                x.measure: {"coarse": as_json(x.coarse), "fine": as_json(x.fine)}
                | {"extrapolated": as_json(x.value), "error": as_json(x.error), "regular": x.regular}
                for x in self.finer
            },
            "metastability": None if self.metastability is None else conditions_data(self.metastability),
        }
        if states:
            pairs = zip(chain.states, solution.probabilities, strict=True)
            data["distribution"] = [
                {"state": s, "probability": as_json(p)} | ({"exact": text} if (text := rational(p)) else {})
                for s, p in ((s, near_number(chain, p)) for s, p in pairs)
            ]
        return data

    def _repr_html_(self) -> str:
        caption = f"{self.program.name}: {self.states} states; {self.solved.solution.method}"
        return estimates_table(caption, self.estimates)


def _number(value: Number) -> dict[str, object]:
    return {"value": as_json(value)} | ({"exact": rational(value)} if rational(value) else {})


def _tail(tail: "OpenTail") -> dict[str, object]:
    bound = {} if tail.decay_bound is None or isinstance(tail.decay, Fraction) else {"bound": tail.decay_bound}
    shape = {"first": tail.first, "phases": tail.phases, "below": tail.below, "step": tail.step}
    return {"decay": _number(tail.decay) | bound, "quantiles": dict(tail.quantiles)} | shape


def solve_program(
    program: Program, options: SolveOptions, progress: Callable[[int, int], None] | None = None
) -> SolveResult:
    """Explore and solve by one of the METHODS; `exact` None means rational where the chain is small.

    Raises what `serq.pipeline.solve` raises, and StormError when the method is `storm` and Storm fails.
    """
    if unlimited(program, options):
        wanted = (
            True if options.exact or options.method == "dixon" else _ALWAYS_DOUBLES.get(options.method, options.exact)
        )
        try:
            solved = solve_without_limit(program, replace(options, exact=wanted))
        except OutsideFragmentError as refused:
            raise with_formula(refused, program) from None
        return SolveResult(program, with_distributions(solved, program, options, progress))
    chain = explore_chain(program, options, progress)
    if options.method == "storm":
        from serq.compare.storm_chain import solve_with_storm

        solved = solve_with_storm(chain, exact=options.exact, source=program.source)
        options = replace(options, method="auto")
    else:
        rational_asked = options.exact or options.method == "dixon"
        wanted = True if rational_asked else _ALWAYS_DOUBLES.get(options.method, options.exact)
        options = replace(options, exact=wanted)
        solved = solve_chain(chain, program, options)
    return SolveResult(program, with_distributions(solved, program, replace(options, unlumped=()), progress))


def solve_question(
    program: Program,
    options: SolveOptions,
    reload: Callable[[str, Fraction], Program],
    derivative: Collection[str] = (),
    metastability: bool = False,
    lumping: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SolveResult:
    """The steady state, with what else is asked of it; `reload`: the program with another value of a constant.

    Where phases stand for work that is not phase-type, the measures with twice the phases are there too.
    Raises what `solve_program` raises, and UsageError for a constant in which there is no derivative.
    """
    result = solve_program(program, options, progress)
    plain = replace(options, method="auto")
    return replace(
        result,
        derivatives=tuple(derivatives(program, name, partial(reload, name), plain) for name in derivative),
        metastability=conditions(program, result.solved) if metastability else None,
        finer=_finer(program, result, options),
        lumping=lumping_report(result.solved.chain) if lumping else (),
    )


def _finer(program: Program, result: SolveResult, options: SolveOptions) -> tuple[Extrapolation, ...]:
    """The measures with twice the phases, where phases stand for something."""
    if options.phase_type is None or not stands_in(result.solved.chain):
        return ()
    finer = solve_program(program, replace(options, phase_type=2 * options.phase_type))
    if options.phase_type % 2:
        return extrapolate(result.estimates, finer.estimates)
    coarser = solve_program(program, replace(options, phase_type=options.phase_type // 2))
    return extrapolate(result.estimates, finer.estimates, coarser.estimates)
