"""Streams of sixteen sessions that follow each other, or a first draw of each, in restricted Python, made at once.

An instruction for vectors does the same for all of them. The numbers are those of `serq.codegen.streams` and
`serq.codegen.draws` to the last bit. Where `room` is not above 0, an exponential is not decided by one word of its
stream (one in forty-five): it must be drawn alone.
"""

from serq.codegen.lang import F64Array, U64Array, f64, i64, inline, lanes, sqrt, u64
from serq.codegen.streams import GOLDEN, MASK, mixed
from serq.codegen.ziggurat import END, STEP, UNIT

BLOCK = 16
"""So many sessions are a block."""
WORDS = 4 * BLOCK
"""So many words have their streams."""


def begin_block(key: U64Array, at_key: i64, serial: i64, s: U64Array) -> None:
    """Begin the streams of a block of sessions, the first of which has this serial number; word w of stream i is item
    BLOCK w + i.
    """
    key0 = key[at_key]
    key1 = key[at_key + 1]
    key2 = key[at_key + 2]
    key3 = key[at_key + 3]
    for i in lanes(BLOCK):
        step = (((serial + i) & MASK) * GOLDEN) & MASK
        s[i] = mixed((key0 + step) & MASK)
        s[BLOCK + i] = mixed((key1 + step) & MASK)
        s[2 * BLOCK + i] = mixed((key2 + step) & MASK)
        s[3 * BLOCK + i] = mixed((key3 + step) & MASK)


@inline
def scrambled(s0: u64, s3: u64) -> u64:
    """What a step of xoshiro256++ gives."""
    x = (s0 + s3) & MASK
    return (((x << 23) | (x >> 41)) + s0) & MASK


@inline
def turned(u: u64) -> u64:
    """The last word after a step, as `streams.next_bits` turns it."""
    return ((u << 45) | (u >> 19)) & MASK


def block_exp(key: U64Array, serial: i64, values: F64Array, room: F64Array, mean: f64) -> None:
    """`draws.draw_exp` as the first draw of each session of a block."""
    key0 = key[0]
    key3 = key[3]
    for i in lanes(BLOCK):
        step = (((serial + i) & MASK) * GOLDEN) & MASK
        bits = scrambled(mixed((key0 + step) & MASK), mixed((key3 + step) & MASK))
        layer = int(bits & 255)
        x = (bits >> 11) * STEP[layer]
        room[i] = END[layer + 1] - x
        values[i] = mean * x


def block_h2(key: U64Array, serial: i64, values: F64Array, room: F64Array, mean: f64, cv2: f64) -> None:
    """`draws.draw_h2` as the first draw of each session of a block."""
    p = 0.5 * (1.0 + sqrt((cv2 - 1.0) / (cv2 + 1.0)))
    often = mean / (2.0 * p)
    seldom = mean / (2.0 * (1.0 - p)) if p < 1.0 else 0.0
    key0 = key[0]
    key1 = key[1]
    key3 = key[3]
    for i in lanes(BLOCK):
        step = (((serial + i) & MASK) * GOLDEN) & MASK
        s0 = mixed((key0 + step) & MASK)
        s1 = mixed((key1 + step) & MASK)
        s3 = mixed((key3 + step) & MASK)
        u = (scrambled(s0, s3) >> 11) * UNIT
        s3 ^= s1
        bits = scrambled(s0 ^ s3, turned(s3))
        layer = int(bits & 255)
        x = (bits >> 11) * STEP[layer]
        room[i] = END[layer + 1] - x
        values[i] = (often if u < p else seldom) * x
