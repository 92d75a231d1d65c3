"""How sessions come: the clock of the next arrival, as the program's `arrive` says."""

from serq.base.errors import RunError
from serq.codegen.seeds import Words
from serq.codegen.streams import exponential
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import Compiled, NoScope, compile_expr
from serq.semantics.errors import BadGap
from serq.semantics.machine import Machine
from serq.semantics.sampled import SampledWorld
from serq.semantics.sampling import SAMPLERS

_MOST_ZERO_GAPS = 10_000
"""So many arrivals at one instant, one after the other, are no burst but a stream that lets no time pass."""


class Arrivals:
    """The clock of the next arrival. A Poisson stream begins at time 0, a renewal stream with a gap."""

    def __init__(self, program: p.Program, world: SampledWorld, machine: Machine) -> None:
        self.program = program
        self.world = world
        self.machine = machine
        self.words = self.world.arrival_stream()
        self.zeros = 0  # gaps of 0 in a row
        arrivals = self.program.arrivals
        self.gap: Compiled | None = None
        if isinstance(arrivals, p.Renewal):
            self.gap = compile_expr(arrivals.gap, self.world.arithmetic, self.world.constants())
        self.recorded = iter(self.world.recorded_arrivals() if isinstance(arrivals, p.FromTrace) else ())

    def begin(self) -> None:
        """Set the first clock, when sessions keep arriving; those of a trace that began at time 0 arrive now."""
        arrivals = self.program.arrivals
        if isinstance(arrivals, p.Poisson):
            self.world.clocks.set(0.0, self._arrive, None)
        elif isinstance(arrivals, p.Renewal):
            self._set_next()
        for time, count in self.recorded:
            if time == 0.0:
                self._arrive_together(count)
            else:
                self.world.clocks.set(time, self._arrive_together, count)
            break

    def _arrive_together(self, count: int) -> None:
        """Recorded sessions of one instant arrive; as in `_arrive`, the next clock is set before."""
        for time, more in self.recorded:
            self.world.clocks.set(time, self._arrive_together, more)
            break
        for _ in range(count):
            self.machine.arrive()

    def _arrive(self, _: None) -> None:
        """The next clock is set before the session runs: of two clocks for one instant the arrival's is first."""
        self._set_next()
        self.machine.arrive()

    def _set_next(self) -> None:
        self.world.clocks.set(self.world.time + self._next_gap(), self._arrive, None)

    def _next_gap(self) -> float:
        arrivals = self.program.arrivals
        if isinstance(arrivals, p.Poisson):
            return exponential(self.words) / arrivals.rate.value
        assert isinstance(arrivals, p.Renewal)
        assert self.gap is not None
        gap = float(self.gap(_GapScope(self.world, self.words)))
        self.zeros = self.zeros + 1 if gap == 0.0 else 0
        if 0.0 <= gap < float("inf") and self.zeros < _MOST_ZERO_GAPS:
            return gap
        value = f"0, {self.zeros} times in a row" if gap == 0.0 else f"{gap:g}"
        raise RunError(self.program.source, [BadGap(span=arrivals.gap.span, value=value)])


class _GapScope(NoScope):
    """The surroundings of a gap: the time, and draws from the stream of arrivals."""

    def __init__(self, world: SampledWorld, words: Words) -> None:
        self._world = world
        self._words = words

    def builtin(self, name: e.BuiltinName) -> float:
        """`now` is all there is before a session."""
        return self._world.time

    def draw(self, draw: e.Draw, args: tuple[float, ...]) -> float:
        """A draw for the gap."""
        self._world.validate(draw, args)
        return SAMPLERS[draw.law](self._words, args)
