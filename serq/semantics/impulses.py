"""What a transition of a chain earns: the events that the machine reports while it settles."""

from fractions import Fraction

from serq.base.errors import OutsideFragmentError
from serq.ir import program as p
from serq.ir.evaluate import Value
from serq.semantics.configuration import Claim, Entry, Job, Session
from serq.semantics.fragment_errors import HoldNeverFits
from serq.semantics.symbols import Amount, rational
from serq.semantics.world import Recorder


class Impulses(Recorder):
    """What happens while one event settles, by the name of the reward it earns."""

    def __init__(self, program: p.Program) -> None:
        self._program = program
        self._completed = [f"stage.{stage.name}.throughput" for stage in program.stages]
        self._pools = [f"pool.{pool.name}." for pool in program.pools]
        self.earned: dict[str, Fraction | int] = {}
        self.broken: dict[str, str] = {}
        self._known: dict[tuple[tuple[str, Fraction | int], ...], tuple[tuple[str, Fraction], ...]] = {}
        self._observed: dict[str, tuple[str, str]] = {
            name: (f"observe.{name}.rate", f"observe.{name}.sum") for name in program.observes
        }

    def take(self) -> tuple[tuple[str, Fraction], ...]:
        """What was earned since the last call, sorted by name, zeros left out; equal earnings are one object."""
        if not self.earned:
            return ()
        earned, self.earned = self.earned, {}
        key = tuple(earned.items())
        known = self._known.get(key)
        if known is None:
            known = tuple(sorted((name, Fraction(value)) for name, value in key if value))
            known = self._known[key] = self._known.setdefault(known, known)
        return known

    def _earn(self, name: str, value: Fraction | int = 1) -> None:
        self.earned[name] = self.earned.get(name, 0) + value

    def observed(self, session: Session, observe: p.Observe, value: Value) -> None:
        """One observation, and its finite part."""
        rate, total = self._observed[observe.name]
        self._earn(rate)
        if isinstance(value, Amount):
            value = value.mean
        if isinstance(value, float) and not abs(value) < float("inf"):
            self.broken[f"observe.{observe.name}.mean"] = f"an observation is {value}"
            return
        if value:
            self._earn(total, value if isinstance(value, int) else rational(value))

    def lost(self) -> None:
        """An arrival was lost."""
        self._earn("sessions.losses")

    def ended(self, session: Session) -> None:
        """A session ended."""
        self._earn("sessions.throughput")

    def completed(self, stage: int, job: Job) -> None:
        """A job is done."""
        self._earn(self._completed[stage])

    def admitted(self, pool: int, claim: Claim) -> None:
        """A hold was admitted."""
        self._earn(self._pools[pool] + "admissions")

    def rejected(self, pool: int, claim: Claim) -> None:
        """A hold that never fits is no part of a chain."""
        span = self._program.code[claim.session.pc].span
        fault = HoldNeverFits(span=span, pool=self._program.pools[pool].name)
        raise OutsideFragmentError(self._program.source, [fault])

    def evicted(self, pool: int, entry: Entry, units: Value, whole: bool) -> None:
        """Units were taken off an entry."""
        self._earn(self._pools[pool] + "evictions", int(whole))
        self._earn(self._pools[pool] + "evicted_units", rational(units))

    def preempted(self, pool: int, session: Session) -> None:
        """A session lost its hold."""
        self._earn(self._pools[pool] + "preemptions")
