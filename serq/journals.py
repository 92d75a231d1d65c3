"""The journal of a compiled replay, read as the iterations that the reference tells of."""

from array import array
from collections.abc import Callable

from serq.engine.journal import ADMITTED, ENDED, EVICTED, HEADER, PREEMPTED, STARTED
from serq.ir import program as p
from serq.semantics.step_log import Since, Step

_LENGTHS = {ADMITTED: 5, PREEMPTED: 4, EVICTED: 5, ENDED: 3}


class Reader:
    """Hands every finished iteration to `sink`; `name` gives the name of the session of the trace at a place."""

    def __init__(self, program: p.Program, name: Callable[[int], str], sink: Callable[[Step], object]) -> None:
        steps = [stage.name for stage in program.stages if isinstance(stage.kind, p.Step)]
        self._stages = steps
        self._since = [Since() for _ in steps]
        self._running: dict[int, tuple[array[float], Since]] = {}
        self._place_name = name
        self._sink = sink

    def __call__(self, numbers: "array[float]") -> None:
        """A piece of the journal, of whole rows."""
        at = 0
        while at < len(numbers):
            kind, stage = int(numbers[at]), int(numbers[at + 1])
            if kind == STARTED:
                end = at + HEADER + 3 * int(numbers[at + HEADER - 1])
                self._start(stage, numbers[at:end])
            else:
                end = at + _LENGTHS[kind]
                self._note(kind, stage, numbers[at + 2 : end])
            at = end

    def _note(self, kind: int, stage: int, row: "array[float]") -> None:
        since = self._since[stage]
        if kind == ADMITTED:
            since.admitted.append((self._name(row[0], row[1]), row[2]))
        elif kind == PREEMPTED:
            since.preempted.append(self._name(row[0], row[1]))
        elif kind == EVICTED:
            since.evicted.append((self._place_name(int(row[0])), row[1], row[2]))
        else:
            self._sink(self._step(stage, *self._running.pop(stage), row[0]))

    def _start(self, stage: int, row: "array[float]") -> None:
        """Wait for its end."""
        since, self._since[stage] = self._since[stage], Since()
        self._running[stage] = row, since

    def _step(self, stage: int, row: "array[float]", since: Since, end: float) -> Step:
        start, ndec, kvb, npre, attn, waiting, running, free = row[2 : HEADER - 1]
        return Step(
            stage=self._stages[stage],
            start=start,
            end=end,
            ndec=int(ndec),
            kvb=kvb,
            npre=npre,
            attn=attn,
            waiting=int(waiting),
            running=int(running),
            free=free,
            scheduled=tuple((self._name(row[i], row[i + 1]), row[i + 2]) for i in range(HEADER, len(row), 3)),
            admitted=tuple(since.admitted),
            preempted=tuple(since.preempted),
            evicted=tuple(since.evicted),
        )

    def _name(self, place: float, turn: float) -> str:
        return f"{self._place_name(int(place))}.{int(turn)}"
