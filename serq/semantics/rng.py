"""Random streams: xoshiro256++ seeded by BLAKE2b, uniforms and exponentials.

One stream per (seed, replication, purpose, session): the draws of a session do not depend on what other sessions do, so
programs that differ only in their deployment see the same sessions (common random numbers). A stream is a list of four
64-bit words and what is done with it keeps to plain ints and floats, so that the same text can be compiled.

Sources: D. Blackman, S. Vigna, Scrambled linear pseudorandom number generators, ACM TOMS 47 (2021), section 4;
G. Marsaglia, W. W. Tsang, The ziggurat method for generating random variables, J. Stat. Software 5 (2000).
"""

from hashlib import blake2b
from typing import Literal

from serq.semantics.elementary import exp, log

Words = list[int]
"""The state of a stream: four 64-bit words, not all zero. Draws change it in place."""

Purpose = Literal["arrivals", "workload", "session", "eviction", "trace choice"]

_MASK = 0xFFFFFFFFFFFFFFFF
_UNIT = 2.0**-53


def stream(seed: int, replication: int, purpose: Purpose, serial: int = 0) -> Words:
    """The stream of one purpose of one session: 256 bits of BLAKE2b, keyed with the seed.

    `seed` may be any integer of up to 512 bits with its sign; `replication` and `serial` lie in 0..2^64-1. Streams of
    different arguments are independent for all purposes of simulation: they are outputs of a keyed hash.
    """
    key = seed.to_bytes(seed.bit_length() // 8 + 1, "little", signed=True)
    message = replication.to_bytes(8, "little") + serial.to_bytes(8, "little")
    digest = blake2b(message, digest_size=32, key=key, person=purpose.encode()).digest()
    return [int.from_bytes(digest[i : i + 8], "little") for i in (0, 8, 16, 24)]


def next_bits(s: Words) -> int:
    """64 random bits: one step of xoshiro256++."""
    s0 = s[0]
    s1 = s[1]
    s2 = s[2]
    s3 = s[3]
    x = (s0 + s3) & _MASK
    result = (((x << 23) | (x >> 41)) + s0) & _MASK
    s2 ^= s0
    s3 ^= s1
    s[0] = s0 ^ s3
    s[1] = s1 ^ s2
    s[2] = s2 ^ ((s1 << 17) & _MASK)
    s[3] = ((s3 << 45) | (s3 >> 19)) & _MASK
    return result


def u01(s: Words) -> float:
    """A uniform multiple of 2^-53 in [0, 1): 0 can occur, 1 cannot."""
    return (next_bits(s) >> 11) * _UNIT


# -- the exponential by ziggurat -------------------------------------------------------------------------------------

LAYERS = 256
"""Layers of equal area under exp(-x); the lowest has the tail beyond `TAIL` instead of a rectangle's end."""
TAIL = float.fromhex("0x1.ec9d9297ebb83p+2")
"""The x at which 256 layers of area (1 + x) exp(-x) close exactly at the top."""


def _layers() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(right ends by layer, with the lowest widened to the common area; exp(-right end)), each of LAYERS + 1."""
    area = (TAIL + 1.0) * exp(-TAIL)
    ends = [area / exp(-TAIL), TAIL]
    for i in range(1, LAYERS - 1):
        ends.append(-log(area / ends[i] + exp(-ends[i])))
    ends.append(0.0)
    return tuple(ends), tuple(exp(-x) for x in ends)


_END, _HEIGHT = _layers()
_STEP = tuple(x * _UNIT for x in _END)


def exponential(s: Words) -> float:
    """An exponential of mean 1; 0 can occur (with probability below 2^-52)."""
    bits = next_bits(s)
    layer = bits & 255
    x = (bits >> 11) * _STEP[layer]
    if x < _END[layer + 1]:
        return x
    return _beyond(s, layer, x)


def _beyond(s: Words, layer: int, x: float) -> float:
    """What `exponential` does in one draw of ninety: the edge of a layer, or the tail, which is the law once more."""
    passed = 0.0
    while True:
        if layer == 0:
            passed = passed + TAIL
        else:
            y = _HEIGHT[layer] + u01(s) * (_HEIGHT[layer + 1] - _HEIGHT[layer])
            if y < exp(-x):
                return passed + x
        bits = next_bits(s)
        layer = bits & 255
        x = (bits >> 11) * _STEP[layer]
        if x < _END[layer + 1]:
            return passed + x
