"""Random streams in restricted Python: xoshiro256++, uniforms and exponentials.

A stream is four 64-bit words, not all zero, that lie in an array from index `at` on; draws change them in place. Keys
of streams come from `serq.codegen.seeds`.

Sources: D. Blackman, S. Vigna, Scrambled linear pseudorandom number generators, ACM TOMS 47 (2021), section 4;
G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014 (the mixing function is
D. Stafford's variant 13, as in SplitMix64); G. Marsaglia, W. W. Tsang, The ziggurat method for generating random
variables, J. Stat. Software 5 (2000).
"""

from serq.codegen.elementary import exp
from serq.codegen.lang import U64Array, cold, f64, i64, inline, lanes, u64
from serq.codegen.ziggurat import END, HEIGHT, STEP, TAIL, UNIT

MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, odd: neighbouring numbers times it lie far apart."""


def start_stream(key: U64Array, at_key: i64, serial: i64, s: U64Array, at: i64) -> None:
    """Begin the stream of a session: each word is the `serial`-th output of a SplitMix64 that starts at the key's.

    The four words of the stream must not overlap those of the key.
    """
    step = ((serial & MASK) * GOLDEN) & MASK
    for i in lanes(4):
        s[at + i] = mixed((key[at_key + i] + step) & MASK)


@inline
def mixed(z: u64) -> u64:
    """A bijection of 64-bit words in which every bit of z moves every bit of the result half of the time."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def next_bits(s: U64Array, at: i64 = 0) -> u64:
    """64 random bits: one step of xoshiro256++."""
    s0 = s[at]
    s1 = s[at + 1]
    s2 = s[at + 2]
    s3 = s[at + 3]
    x = (s0 + s3) & MASK
    result = (((x << 23) | (x >> 41)) + s0) & MASK
    s2 ^= s0
    s3 ^= s1
    s[at] = s0 ^ s3
    s[at + 1] = s1 ^ s2
    s[at + 2] = s2 ^ ((s1 << 17) & MASK)
    s[at + 3] = ((s3 << 45) | (s3 >> 19)) & MASK
    return result


def u01(s: U64Array, at: i64 = 0) -> f64:
    """A uniform multiple of 2^-53 in [0, 1): 0 can occur, 1 cannot."""
    return (next_bits(s, at) >> 11) * UNIT


def exponential(s: U64Array, at: i64 = 0) -> f64:
    """An exponential of mean 1; 0 can occur (with probability below 2^-52)."""
    bits = next_bits(s, at)
    layer = int(bits & 255)
    x = (bits >> 11) * STEP[layer]
    if x < END[layer + 1]:
        return x
    return beyond(s, at, layer, x)


@cold
def beyond(s: U64Array, at: i64, layer: i64, x: f64) -> f64:
    """What `exponential` does in one draw of 45: the edge of a layer, or the tail, which is the law once more."""
    passed = 0.0
    while True:
        if layer == 0:
            passed = passed + TAIL
        else:
            y = HEIGHT[layer] + u01(s, at) * (HEIGHT[layer + 1] - HEIGHT[layer])
            if y < exp(-x):
                return passed + x
        bits = next_bits(s, at)
        layer = int(bits & 255)
        x = (bits >> 11) * STEP[layer]
        if x < END[layer + 1]:
            return passed + x
