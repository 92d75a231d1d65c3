"""What a state is made of: one record per session, one per dead cache entry, and nothing that names a session.

A record says where its session is and what it remembers. Sharing is only through orders (queues, admissions, releases),
so each record carries its ranks, and two states that differ by a renaming of sessions have the same records.
"""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

Number = Any
"""A rational, an int in place of a whole one, or a double (`inf`)."""


class Record(NamedTuple):
    """One session at rest, or (pc -1) one dead cache entry.

    `values`: what is kept of its attributes, in the order of their names; an undrawn amount is ("~", code), None is
    unset. `place`: at a stage (stage, law, phase, rank), phase -1 while waiting, rank -1 where no order is kept; in a
    queue (pool, rank, pools of the hold); growing (pool, rank, scope, part, units). `scopes`: per open hold its
    admission rank, then pool and units of each part. `entries`: (pool, units, release rank), rank -1 when dropped.
    What only programs with clocks have (`serq.semantics.timed_codec`): pc -2 is a clock of no session, and `more` is
    what step stages ask of a session.
    """

    pc: int
    values: tuple[Number, ...]
    place: tuple[int, ...] | tuple[Number, ...]
    scopes: tuple[tuple[Number, ...], ...]
    entries: tuple[tuple[int, Number, int], ...]
    more: tuple[Any, ...] = ()


DEAD = -1
"""The `pc` of the record of a dead entry."""

CLOCK = -2
"""The `pc` of the record of a clock that is no session's: of an iteration, or of the next arrival."""

WAITING = -1
"""The phase of a job that is not in service; also the rank where no order is kept."""

Phases = dict[int, int]
"""The phase of every job in service, by job number."""

State = tuple[int, ...]
"""The numbers of a state's records, sorted: sessions first come first numbered, dead entries among them."""


@dataclass(frozen=True, slots=True)
class Quotients:
    """Which exact quotients of the chain are taken. All are; a test switches them off to compare.

    `symmetry`: sessions are interchangeable. `dead_values`: an attribute that is not read again is forgotten.
    `service_order`: jobs in service have no order. `pinned_ranks`: the release rank of an entry that cannot be evicted
    before it is consumed is forgotten.
    """

    symmetry: bool = True
    dead_values: bool = True
    service_order: bool = True
    pinned_ranks: bool = True

    def words(self) -> tuple[str, ...]:
        """The quotients taken, in words."""
        return tuple(_WORDS[f.name] for f in fields(self) if getattr(self, f.name))


_WORDS = {
    "symmetry": "sessions are interchangeable: states are multisets of session records",
    "dead_values": "attributes that are not read again are forgotten",
    "service_order": "jobs in service have no order",
    "pinned_ranks": "the release rank of a prefix that cannot be evicted before it is consumed is forgotten",
}
