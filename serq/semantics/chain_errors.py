"""Why a chain has no steady state, in words."""

from fractions import Fraction
from typing import ClassVar

from serq.base.diagnostics import Diagnostic
from serq.base.source import Span


class AllSessionsEnd(Diagnostic):
    """The chain is absorbed where nobody is left. `mean_time`: the expected time until then, as a text."""

    code: ClassVar[str] = "SQ650"
    template: ClassVar[str] = (
        "there is no steady state to speak of: all sessions end with probability 1, after a mean time of {mean_time}; "
        "from then on every throughput is 0"
    )
    hint_template: ClassVar[str] = (
        "`serq run` gives the totals of a batch; a steady state needs sessions that `loop` or keep arriving"
    )

    mean_time: str


class Deadlock(Diagnostic):
    """The chain comes to rest with sessions in it; span and notes point at the lines where they wait."""

    code: ClassVar[str] = "SQ651"
    template: ClassVar[str] = (
        "with probability {probability} the program comes to rest for ever with sessions waiting: {state}"
    )
    hint_template: ClassVar[str] = (
        "sessions may each hold what another waits for: take all parts in one `hold`, or always in the same order"
    )

    probability: str
    state: str


class Unstable(Diagnostic):
    """Sessions arrive as fast as they leave, or faster. `up` and `down`: mean rates while many wait, as texts."""

    code: ClassVar[str] = "SQ653"
    template: ClassVar[str] = (
        "there is no steady state: sessions arrive at rate {up}, and while many wait they leave at rate {down}: the "
        "queue is {verdict}"
    )
    hint_template: ClassVar[str] = (
        "serve faster, or turn some away: `limit(K)` behind the arrivals, or `--limit K`, gives a steady state with "
        "losses"
    )

    up: str
    down: str
    verdict: str

    @classmethod
    def at(cls, span: Span, up: Fraction, down: Fraction) -> "Unstable":
        """What to say of these rates, of which the second is not the greater one."""
        critical = "critically loaded, and wanders off ever further"
        verdict = "overloaded, and grows without bound" if up > down else critical
        return cls(span=span, up=str(up), down=str(down), verdict=verdict)


class SeveralClasses(Diagnostic):
    """The chain ends in one of several closed classes; the notes name each with its probability."""

    code: ClassVar[str] = "SQ652"
    template: ClassVar[str] = (
        "there is no single steady state: chance decides in which of {count} closed classes the program ends"
    )
    hint_template: ClassVar[str] = "long-run averages differ from class to class, and serQ does not average them"

    count: int
