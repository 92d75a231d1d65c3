"""BLAKE2b: the streams of new sessions, as `serq.codegen.seeds` defines them.

The key (the seed) fills the first block of a message, which is the same for all sessions: the chain value behind it is
computed once, here. The last block holds the numbers of the replication and of the session, and nothing else; the text
for it is written by `last_block`, with the rounds unrolled and without the words that are 0.
Source: M.-J. Saarinen, J.-P. Aumasson, RFC 7693 (2015), section 3.
"""

from collections.abc import Iterator, Sequence

MASK = 0xFFFFFFFFFFFFFFFF
IV = (
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
)  # fmt: skip
SIGMA = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
    (11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),
    (7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),
    (9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),
    (2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),
    (12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),
    (13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),
    (6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),
    (10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),
)
ROUNDS = 12
COLUMNS_AND_DIAGONALS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip
BLOCK = 128
LENGTH = BLOCK + 16
"""Bytes of key block and message."""


def _half_mixes() -> Iterator[tuple[int, int, int, int, int, int, int]]:
    """The words (a, b, c, d) that a half of a mixing step changes, the place of its message word, its two turns."""
    for r in range(ROUNDS):
        order = SIGMA[r % len(SIGMA)]
        for i, four in enumerate(COLUMNS_AND_DIAGONALS):
            yield (*four, order[2 * i], 32, 24)
            yield (*four, order[2 * i + 1], 16, 63)


def keyed_chain(seed: int, purpose: str) -> list[int]:
    """The chain value of BLAKE2b with a digest of 32 bytes behind the block that holds the key."""
    key = seed.to_bytes(seed.bit_length() // 8 + 1, "little", signed=True)
    person = purpose.encode().ljust(16, b"\0")
    parameters = [0x01010000 ^ (len(key) << 8) ^ 32, 0, 0, 0, 0, 0]
    parameters += [int.from_bytes(person[i : i + 8], "little") for i in (0, 8)]
    start = [word ^ iv for word, iv in zip(parameters, IV, strict=True)]
    block = key.ljust(BLOCK, b"\0")
    return _compressed(start, [int.from_bytes(block[i : i + 8], "little") for i in range(0, BLOCK, 8)], BLOCK)


def _compressed(chain: Sequence[int], block: Sequence[int], length: int) -> list[int]:
    """The next chain value, for a block that is not the last one."""
    v = [*chain, *IV]
    v[12] ^= length
    for a, b, c, d, word, first, second in _half_mixes():
        v[a] = (v[a] + v[b] + block[word]) & MASK
        v[d] = _turned(v[d] ^ v[a], first)
        v[c] = (v[c] + v[d]) & MASK
        v[b] = _turned(v[b] ^ v[c], second)
    return [h ^ v[i] ^ v[i + 8] for i, h in enumerate(chain)]


def _turned(x: int, n: int) -> int:
    return ((x >> n) | (x << (64 - n))) & MASK


def last_block() -> list[str]:
    """Lines of restricted Python: `seed(s, slot, purpose)` begins a stream of a session."""
    fixed = [*IV[:4], IV[4] ^ LENGTH, IV[5], IV[6] ^ MASK, IV[7]]
    lines = ["at = 8 * purpose", "m0 = s.message[0]", f"m1 = s.serial[slot] & {MASK}"]
    lines += [f"h{i} = s.keyed[at + {i}]" for i in range(8)]
    lines += [f"v{i} = h{i}" for i in range(8)]
    lines += [f"v{i + 8}: u64 = {word}" for i, word in enumerate(fixed)]
    for a, b, c, d, word, first, second in _half_mixes():
        message = f" + m{word}" if word < 2 else ""
        lines += [
            f"v{a} = (v{a} + v{b}{message}) & {MASK}",
            f"v{d} = turned(v{d} ^ v{a}, {first})",
            f"v{c} = (v{c} + v{d}) & {MASK}",
            f"v{b} = turned(v{b} ^ v{c}, {second})",
        ]
    lines.append("to = 8 * slot + 4 * purpose")
    lines += [f"s.words[to + {i}] = h{i} ^ v{i} ^ v{i + 8}" for i in range(4)]
    head = ["@cold", "def seed(s: Sim, slot: i64, purpose: i64) -> None:"]
    return [*head, *("    " + line for line in lines)]
