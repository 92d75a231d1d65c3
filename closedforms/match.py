"""Which known formula fits a program: read from what it does, never from its file or its names.

The session is walked as a Markov chain over its instructions (`sessiongraph`); visits, demands and kinds of session
follow by linear algebra (`flows`, `system`); the shape of the network chooses the candidates. Every formula that fits
is evaluated, and its values are carried to the measures of the program by flow and Little's law (`compose`).
"""

from serq.closedforms.match_closed import match_closed
from serq.closedforms.match_loss import match_loss
from serq.closedforms.match_open import match_limited, match_open
from serq.closedforms.matches import Match, Matches, NearMiss
from serq.closedforms.sessiongraph import NotFollowedError
from serq.closedforms.system import System, read
from serq.ir.program import Program


def match(program: Program) -> Matches:
    """The formulas that fit the program, the most specific first; those that nearly do; or why none can.

    What a session asks about others is taken for the test of a loss station first, and when that leads nowhere for an
    observation that has no closed form.
    """
    found, tested = _matched(program, tests=True)
    if tested and not found.matches:
        other, _ = _matched(program, tests=False)
        if other.matches:
            return other
    return found


def _matched(program: Program, tests: bool) -> tuple[Matches, bool]:
    """What is found, and whether something was taken for a test for room."""
    try:
        system = read(program, tests)
        reason = _unfit(system)
        found = [] if reason else _found(system)
    except NotFollowedError as stop:
        return Matches(program, reason=stop.reason, span=stop.span), False
    fits = tuple(x for x in found if isinstance(x, Match))
    misses = tuple(dict.fromkeys(x for x in found if isinstance(x, NearMiss)))
    return Matches(program, fits, misses, reason), _tested(system)


def _tested(system: System) -> bool:
    return any(kind.graph.rooms for kind in system.kinds)


def _unfit(system: System) -> str:
    """Why no formula can fit, whatever the shape of the network; empty when one may."""
    if not system.stations:
        return "no session runs anywhere"
    if system.periodic:
        return "a session whose times have no density repeats itself: its start is never forgotten"
    return ""


def _found(system: System) -> list[Match | NearMiss]:
    if _tested(system):
        return match_loss(system)
    if system.source.population is not None:
        return match_closed(system)
    return match_open(system) if system.source.limit is None else match_limited(system)
