"""What can go wrong while a program runs: SQ5xx. Each is raised at the instruction or expression that did it."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class BadWork(Diagnostic):
    """A run of an amount that is no amount of work."""

    code: ClassVar[str] = "SQ501"
    template: ClassVar[str] = "session {session} cannot run this amount at {stage}: {problem}"
    hint_template: ClassVar[str] = "work is a finite number, zero or more"

    session: int
    stage: str
    problem: str


class BadProbability(Diagnostic):
    """A branch outside [0, 1]."""

    code: ClassVar[str] = "SQ502"
    template: ClassVar[str] = "the branch probability of session {session} is {value}"
    hint_template: ClassVar[str] = "a probability lies in [0, 1]; a test is 0 or 1"

    session: int
    value: str


class BadIndex(Diagnostic):
    """An array index out of range, or not whole."""

    code: ClassVar[str] = "SQ503"
    template: ClassVar[str] = "{name}[{value}] does not exist: {name} has {size} members, counted from 0"
    hint_template: ClassVar[str] = "an index is a whole number from 0 to {last}"

    name: str
    value: str
    size: int
    last: int


class UnsetAttribute(Diagnostic):
    """An attribute that was read before it was set."""

    code: ClassVar[str] = "SQ504"
    template: ClassVar[str] = "session {session} reads {name}, which it has not set yet"
    hint_template: ClassVar[str] = (
        "set {name} in the workload's init block, or before this on every path; a cache clause is also read when the "
        "hold is preempted"
    )

    session: int
    name: str


class BadUnits(Diagnostic):
    """Units, a reserve, a reuse, a growth or a cache length that are NaN."""

    code: ClassVar[str] = "SQ505"
    template: ClassVar[str] = "the {what} of session {session} in {pool} is not a number"
    hint_template: ClassVar[str] = "look for 0/0, inf - inf or a function outside its domain"

    what: str
    session: int
    pool: str


class NotHeld(Diagnostic):
    """Growth in a pool that the session does not hold: only an array index can do this."""

    code: ClassVar[str] = "SQ506"
    template: ClassVar[str] = "session {session} cannot grow in {pool}: it has no open hold there"
    hint_template: ClassVar[str] = "use the index with which the hold was taken"

    session: int
    pool: str


class PoolTwice(Diagnostic):
    """One hold that names one pool twice."""

    code: ClassVar[str] = "SQ507"
    template: ClassVar[str] = "this hold of session {session} names {pool} twice"
    hint_template: ClassVar[str] = "add the units up, or nest two holds"

    session: int
    pool: str


class BadStageValue(Diagnostic):
    """A budget, chunk, cost or capacity that makes no sense."""

    code: ClassVar[str] = "SQ508"
    template: ClassVar[str] = "the {what} of stage {stage} is {value}"
    hint_template: ClassVar[str] = "it must be a number, zero or more{limit}"

    what: str
    stage: str
    value: str
    limit: str = ""


class ZeroTimeLoop(Diagnostic):
    """Too many commands at one instant."""

    code: ClassVar[str] = "SQ509"
    template: ClassVar[str] = (
        "more than {limit} commands at time {time} without time passing; session {session} stands here"
    )
    hint_template: ClassVar[str] = "every way round a loop needs a run of positive work or a wait"

    limit: int
    time: str
    session: int


class EndlessReplacement(Diagnostic):
    """A closed population whose sessions end at the instant at which they arrive."""

    code: ClassVar[str] = "SQ510"
    template: ClassVar[str] = (
        "{ended} sessions of the closed population ended at time {time} without time passing; the last was rejected "
        "or ended here"
    )
    hint_template: ClassVar[str] = "an ended session is replaced at once: let every session spend time, or use batch"

    ended: int
    time: str


class NeverFits(Diagnostic):
    """A growth beyond the cap: no preemption and no wait can make room for it."""

    code: ClassVar[str] = "SQ511"
    template: ClassVar[str] = (
        "session {session} can never go on: its holds on {pool} would grow to {needed} units, and the cap is {cap}"
    )
    hint_template: ClassVar[str] = "raise the cap, or let the program refuse such a session before it holds"

    session: int
    pool: str
    needed: str
    cap: str


class Livelock(Diagnostic):
    """Preemptions go on and nobody gets any further."""

    code: ClassVar[str] = "SQ512"
    template: ClassVar[str] = (
        "livelock: {count} preemptions without any progress, the last of session {session}, whose hold on {pool} "
        "begins here"
    )
    hint_template: ClassVar[str] = "reserve what the body will need, or do not wait for one pool while holding another"

    session: int
    pool: str
    count: int


class BadCount(Diagnostic):
    """`choose` among a number of candidates that is not whole or not positive."""

    code: ClassVar[str] = "SQ513"
    template: ClassVar[str] = "session {session} cannot choose among {value} candidates"
    hint_template: ClassVar[str] = "the number of candidates is whole and at least 1"

    session: int
    value: str


class BadLaw(Diagnostic):
    """A draw whose parameters make no law."""

    code: ClassVar[str] = "SQ514"
    template: ClassVar[str] = "~{law}({arguments}) cannot be drawn: {problem}"

    law: str
    arguments: str
    problem: str


class BadGap(Diagnostic):
    """A gap between arrivals that lets no time pass or is not finite."""

    code: ClassVar[str] = "SQ515"
    template: ClassVar[str] = "the gap to the next arrival is {value}"
    hint_template: ClassVar[str] = "gaps are finite and not negative, and not zero for ever"

    value: str


class NeverAdmitted(Diagnostic):
    """A hold that can never fit and was not rejected: it waits for ever, and so does everybody behind it."""

    code: ClassVar[str] = "SQ516"
    template: ClassVar[str] = (
        "session {session} waits for ever: it needs {needed} units of {pool}, and the cap is {cap}; {behind} more wait "
        "behind it"
    )
    hint_template: ClassVar[str] = "raise the cap, or replay without --strict-vllm: then such a request is rejected"

    session: str
    pool: str
    needed: str
    cap: str
    behind: int


class WaitsForEver(Diagnostic):
    """A session that is still there when nothing can happen any more."""

    code: ClassVar[str] = "SQ517"
    template: ClassVar[str] = "session {session} waits for ever {where}: nothing can happen any more"
    hint_template: ClassVar[str] = "do not wait for one pool while holding what others need to go on"

    session: str
    where: str
