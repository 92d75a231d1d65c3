"""Where streams come from: four words for each (seed, replication, purpose, session), by BLAKE2b.

One stream for each session: its draws do not depend on what other sessions do, so that programs that differ only in
their deployment see the same sessions (common random numbers).
"""

from hashlib import blake2b
from typing import Literal

Words = list[int]
"""The state of a stream: four 64-bit words, not all zero. Draws change it in place."""

Purpose = Literal["arrivals", "workload", "session", "eviction", "trace choice"]


def stream(seed: int, replication: int, purpose: Purpose, serial: int = 0) -> Words:
    """The stream of one purpose of one session: 256 bits of BLAKE2b, keyed with the seed.

    `seed` may be any integer of up to 512 bits with its sign; `replication` and `serial` lie in 0..2^64-1. Streams of
    different arguments are independent for all purposes of simulation: they are outputs of a keyed hash.
    """
    key = seed.to_bytes(seed.bit_length() // 8 + 1, "little", signed=True)
    message = replication.to_bytes(8, "little") + serial.to_bytes(8, "little")
    digest = blake2b(message, digest_size=32, key=key, person=purpose.encode()).digest()
    return [int.from_bytes(digest[i : i + 8], "little") for i in (0, 8, 16, 24)]
