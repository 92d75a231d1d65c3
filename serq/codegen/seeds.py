"""Where streams come from: a key of 256 bits for each (seed, replication, purpose), and a stream for each session.

One stream for each session: its draws do not depend on what other sessions do, so that programs that differ only in
their deployment see the same sessions (common random numbers).
"""

from hashlib import blake2b
from typing import Literal

from serq.codegen.streams import start_stream

Words = list[int]
"""Four 64-bit words: a key, or the state of a stream (not all zero), which draws change in place."""

Purpose = Literal["arrivals", "workload", "session", "eviction", "trace choice"]


def stream_key(seed: int, replication: int, purpose: Purpose) -> Words:
    """What the streams of one purpose are made from: 256 bits of BLAKE2b, keyed with the seed.

    `seed` may be any integer of up to 512 bits with its sign; `replication` lies in 0..2^64-1.
    """
    key = seed.to_bytes(seed.bit_length() // 8 + 1, "little", signed=True)
    message = replication.to_bytes(8, "little")
    digest = blake2b(message, digest_size=32, key=key, person=purpose.encode()).digest()
    return [int.from_bytes(digest[i : i + 8], "little") for i in (0, 8, 16, 24)]


def stream(seed: int, replication: int, purpose: Purpose, serial: int = 0) -> Words:
    """The stream of one purpose of one session; `serial` lies in 0..2^63-1.

    Streams of different arguments are independent for all purposes of simulation: keys are outputs of a keyed hash, and
    from one key different sessions get different states, word for word.
    """
    words = [0, 0, 0, 0]
    start_stream(stream_key(seed, replication, purpose), 0, serial, words, 0)
    return words
