"""What the next block of sessions draws from, made at once before they come, in restricted Python: instructions for
vectors do the same for all of them. The numbers are those that each would draw alone.
"""

from serq.codegen.blocks import BLOCK
from serq.codegen.lang import F64Array, U64Array, i64
from serq.codegen.streams import start_stream
from serq.engine.state import Sim


def has_odd(room: F64Array) -> bool:
    """Whether one of the exponentials of a block is not decided by one word of its stream."""
    least = min(room[0], room[BLOCK // 2])
    for i in range(1, BLOCK // 2):
        least = min(least, min(room[i], room[BLOCK // 2 + i]))
    return least <= 0.0


def begin_alone(s: Sim, serial: i64) -> None:
    """Begin the stream of one session in `alone`."""
    start_stream(s.keys, 0, serial, s.alone, 0)


def take_words(s: Sim, coming: U64Array, lane: i64, at: i64) -> None:
    """The words of the stream of a session that comes go to their place."""
    s.words[at] = coming[lane]
    s.words[at + 1] = coming[BLOCK + lane]
    s.words[at + 2] = coming[2 * BLOCK + lane]
    s.words[at + 3] = coming[3 * BLOCK + lane]
