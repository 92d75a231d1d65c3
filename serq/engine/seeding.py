"""BLAKE2b in restricted Python: the streams of new sessions, as `serq.codegen.seeds` defines them.

The key (the seed) fills the first block of a message, which is the same for all sessions: the chain value behind it is
computed once. The last block holds the numbers of the replication and of the session.
Source: M.-J. Saarinen, J.-P. Aumasson, RFC 7693 (2015), section 3.
"""

from serq.codegen.lang import U64Array, cold, i64, inline, u64

MASK = 0xFFFFFFFFFFFFFFFF
IV = (
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
)  # fmt: skip
SIGMA = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
    11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4,
    7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
    9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13,
    2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
    12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11,
    13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
    6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5,
    10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
)  # fmt: skip


@inline
def turned(x: u64, n: i64) -> u64:
    """The bits of x turned right by n."""
    return ((x >> n) | (x << (64 - n))) & MASK


@cold
def compress(h: U64Array, at: i64, m: U64Array, length: u64, final: u64, out: U64Array) -> None:
    """The chain value `h[at:at + 8]` and the block `m` of 16 words, after `length` bytes, make eight words in `out`.

    `final` is 0, or 2^64 - 1 for the last block.
    """
    v0 = h[at]
    v1 = h[at + 1]
    v2 = h[at + 2]
    v3 = h[at + 3]
    v4 = h[at + 4]
    v5 = h[at + 5]
    v6 = h[at + 6]
    v7 = h[at + 7]
    v8: u64 = 0x6A09E667F3BCC908
    v9: u64 = 0xBB67AE8584CAA73B
    v10: u64 = 0x3C6EF372FE94F82B
    v11: u64 = 0xA54FF53A5F1D36F1
    v12 = length ^ 0x510E527FADE682D1
    v13: u64 = 0x9B05688C2B3E6C1F
    v14 = final ^ 0x1F83D9ABFB41BD6B
    v15: u64 = 0x5BE0CD19137E2179
    for i in range(12):
        k = 16 * (i % 10)
        v0 = (v0 + v4 + m[SIGMA[k]]) & MASK
        v12 = turned(v12 ^ v0, 32)
        v8 = (v8 + v12) & MASK
        v4 = turned(v4 ^ v8, 24)
        v0 = (v0 + v4 + m[SIGMA[k + 1]]) & MASK
        v12 = turned(v12 ^ v0, 16)
        v8 = (v8 + v12) & MASK
        v4 = turned(v4 ^ v8, 63)
        v1 = (v1 + v5 + m[SIGMA[k + 2]]) & MASK
        v13 = turned(v13 ^ v1, 32)
        v9 = (v9 + v13) & MASK
        v5 = turned(v5 ^ v9, 24)
        v1 = (v1 + v5 + m[SIGMA[k + 3]]) & MASK
        v13 = turned(v13 ^ v1, 16)
        v9 = (v9 + v13) & MASK
        v5 = turned(v5 ^ v9, 63)
        v2 = (v2 + v6 + m[SIGMA[k + 4]]) & MASK
        v14 = turned(v14 ^ v2, 32)
        v10 = (v10 + v14) & MASK
        v6 = turned(v6 ^ v10, 24)
        v2 = (v2 + v6 + m[SIGMA[k + 5]]) & MASK
        v14 = turned(v14 ^ v2, 16)
        v10 = (v10 + v14) & MASK
        v6 = turned(v6 ^ v10, 63)
        v3 = (v3 + v7 + m[SIGMA[k + 6]]) & MASK
        v15 = turned(v15 ^ v3, 32)
        v11 = (v11 + v15) & MASK
        v7 = turned(v7 ^ v11, 24)
        v3 = (v3 + v7 + m[SIGMA[k + 7]]) & MASK
        v15 = turned(v15 ^ v3, 16)
        v11 = (v11 + v15) & MASK
        v7 = turned(v7 ^ v11, 63)
        v0 = (v0 + v5 + m[SIGMA[k + 8]]) & MASK
        v15 = turned(v15 ^ v0, 32)
        v10 = (v10 + v15) & MASK
        v5 = turned(v5 ^ v10, 24)
        v0 = (v0 + v5 + m[SIGMA[k + 9]]) & MASK
        v15 = turned(v15 ^ v0, 16)
        v10 = (v10 + v15) & MASK
        v5 = turned(v5 ^ v10, 63)
        v1 = (v1 + v6 + m[SIGMA[k + 10]]) & MASK
        v12 = turned(v12 ^ v1, 32)
        v11 = (v11 + v12) & MASK
        v6 = turned(v6 ^ v11, 24)
        v1 = (v1 + v6 + m[SIGMA[k + 11]]) & MASK
        v12 = turned(v12 ^ v1, 16)
        v11 = (v11 + v12) & MASK
        v6 = turned(v6 ^ v11, 63)
        v2 = (v2 + v7 + m[SIGMA[k + 12]]) & MASK
        v13 = turned(v13 ^ v2, 32)
        v8 = (v8 + v13) & MASK
        v7 = turned(v7 ^ v8, 24)
        v2 = (v2 + v7 + m[SIGMA[k + 13]]) & MASK
        v13 = turned(v13 ^ v2, 16)
        v8 = (v8 + v13) & MASK
        v7 = turned(v7 ^ v8, 63)
        v3 = (v3 + v4 + m[SIGMA[k + 14]]) & MASK
        v14 = turned(v14 ^ v3, 32)
        v9 = (v9 + v14) & MASK
        v4 = turned(v4 ^ v9, 24)
        v3 = (v3 + v4 + m[SIGMA[k + 15]]) & MASK
        v14 = turned(v14 ^ v3, 16)
        v9 = (v9 + v14) & MASK
        v4 = turned(v4 ^ v9, 63)
    out[0] = h[at] ^ v0 ^ v8
    out[1] = h[at + 1] ^ v1 ^ v9
    out[2] = h[at + 2] ^ v2 ^ v10
    out[3] = h[at + 3] ^ v3 ^ v11
    out[4] = h[at + 4] ^ v4 ^ v12
    out[5] = h[at + 5] ^ v5 ^ v13
    out[6] = h[at + 6] ^ v6 ^ v14
    out[7] = h[at + 7] ^ v7 ^ v15
