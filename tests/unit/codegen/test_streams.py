"""The streams: the published generator, the laws of the draws, the independence of streams.

Statistical tests here fix their seeds; each would fail with probability at most 1e-4 under another seed.
"""

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from scipy import stats

from serq.codegen import streams
from serq.codegen.seeds import stream, stream_key
from serq.codegen.streams import GOLDEN, beyond, exponential, mixed, next_bits, start_stream, u01
from serq.codegen.ziggurat import END, HEIGHT, LAYERS, TAIL

FALSE_ALARM = 1e-4


def published_xoshiro256pp(state):
    """The generator of Blackman and Vigna in 64-bit machine arithmetic, one word after the other."""
    s = [np.uint64(x) for x in state]

    def rotl(x, k):
        return (x << np.uint64(k)) | (x >> np.uint64(64 - k))

    with np.errstate(over="ignore"):
        while True:
            yield int(rotl(s[0] + s[3], 23) + s[0])
            t = s[1] << np.uint64(17)
            s[2] = s[2] ^ s[0]
            s[3] = s[3] ^ s[1]
            s[1] = s[1] ^ s[2]
            s[0] = s[0] ^ s[3]
            s[2] = s[2] ^ t
            s[3] = rotl(s[3], 45)


@pytest.mark.parametrize("state", [[1, 2, 3, 4], [0, 0, 0, 2**64 - 1], stream(7, 0, "session", 3)])
def test_bits_are_those_of_the_published_generator(state):
    ours = list(state)
    reference = published_xoshiro256pp(state)
    assert [next_bits(ours) for _ in range(1000)] == [next(reference) for _ in range(1000)]


def test_first_words_from_the_state_1_2_3_4():
    s = [1, 2, 3, 4]
    assert [next_bits(s) for _ in range(4)] == [41943041, 58720359, 3588806011781223, 3591011842654386]


def test_a_stream_is_pinned_by_its_four_names():
    assert stream(1, 0, "session", 0) == stream(1, 0, "session", 0)
    named = [(1, 0, "session", 0), (2, 0, "session", 0), (-1, 0, "session", 0), (1, 1, "session", 0),
             (1, 0, "workload", 0), (1, 0, "session", 1), (2**200, 0, "session", 0), (0, 0, "session", 0)]  # fmt: skip
    assert len({tuple(stream(*n)) for n in named}) == len(named)


def test_seeds_keep_their_meaning():
    """Recorded once: another value here changes what every seed means."""
    s = stream(1, 0, "session", 0)
    assert [next_bits(s) for _ in range(2)] == PINNED


PINNED = [2700598690674253806, 8392366784372819621]


def test_states_come_from_the_published_splitmix64():
    """Its first two outputs from the seed 1234567; a stream takes one output for each of its words."""
    published = [6457827717110365317, 3203168211198807973]
    assert [mixed((1234567 + k * GOLDEN) % 2**64) for k in (1, 2)] == published
    words = [7] * 6
    start_stream([0, 1234567, 1234567, 0, 0], 1, 2, words, 1)
    assert words[1:3] == [published[1]] * 2
    assert (words[0], words[5]) == (7, 7)
    assert stream(9, 0, "session", 0) == [mixed(k) for k in stream_key(9, 0, "session")]


def test_first_draws_of_many_sessions_are_uniform_in_all_their_bits():
    bits = np.array([next_bits(stream(8, 0, "session", i)) for i in range(20_000)], dtype=np.uint64)
    for shift in range(0, 64, 8):
        byte = (bits >> np.uint64(shift)) & np.uint64(255)
        assert stats.chisquare(np.bincount(byte.astype(int), minlength=256)).pvalue > FALSE_ALARM


def test_uniforms_are_multiples_of_2_to_the_minus_53_in_the_half_open_interval():
    s = stream(3, 0, "session", 0)
    draws = [u01(s) for _ in range(2000)]
    assert all(0 <= u < 1 and (u * 2.0**53).is_integer() for u in draws)
    assert u01([0, 0, 2, 0]) == 0.0


def test_uniform_law():
    s = stream(11, 0, "session", 0)
    assert stats.kstest([u01(s) for _ in range(100_000)], "uniform").pvalue > FALSE_ALARM


def test_exponential_law():
    s = stream(12, 0, "session", 0)
    draws = np.array([exponential(s) for _ in range(200_000)])
    assert stats.kstest(draws, "expon").pvalue > FALSE_ALARM
    far = int((draws > TAIL).sum())
    assert stats.binomtest(far, len(draws), math.exp(-TAIL)).pvalue > FALSE_ALARM
    assert stats.kstest(draws[draws > 5] - 5, "expon").pvalue > FALSE_ALARM


def test_the_rare_path_fills_what_the_layers_leave_out(monkeypatch):
    """What the first draw of a layer does not decide has the law (exponential - layers) / its probability."""
    rare = []

    def recorded(s, at, layer, x):
        rare.append(beyond(s, at, layer, x))
        return rare[-1]

    monkeypatch.setattr(streams, "beyond", recorded)
    s = stream(14, 0, "session", 0)
    count = 600_000
    for _ in range(count):
        exponential(s)
    ends, insides = np.array(END[:-1]), np.array(END[1:])
    probability = 1 - float(np.mean(insides / ends))

    def cdf(x):
        decided = np.minimum(np.atleast_1d(x)[:, None], insides) / ends
        return (1 - np.exp(-x) - decided.mean(axis=1)) / probability

    assert stats.binomtest(len(rare), count, probability).pvalue > FALSE_ALARM
    assert stats.kstest(rare, cdf).pvalue > FALSE_ALARM


def test_low_bits_choose_the_layer_independently_of_the_rest():
    s = stream(13, 0, "session", 0)
    bits = [next_bits(s) for _ in range(100_000)]
    table = np.zeros((16, 16))
    for b in bits:
        table[b & 15, b >> 60] += 1
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


def test_streams_of_neighbours_are_uncorrelated():
    """The same draw of many sessions, and many draws of neighbouring sessions."""
    first = [u01(stream(5, 0, "session", i)) for i in range(20_000)]
    assert stats.kstest(first, "uniform").pvalue > FALSE_ALARM
    assert stats.pearsonr(first[:-1], first[1:]).pvalue > FALSE_ALARM
    for other in (stream(5, 0, "session", 1), stream(5, 1, "session", 0), stream(6, 0, "session", 0),
                  stream(5, 0, "workload", 0)):  # fmt: skip
        one = stream(5, 0, "session", 0)
        a, b = [u01(one) for _ in range(20_000)], [u01(other) for _ in range(20_000)]
        assert stats.pearsonr(a, b).pvalue > FALSE_ALARM


def test_the_tables_of_the_ziggurat_are_layers_of_equal_area():
    """In 40 digits: every layer has the area of the lowest with its tail, and the last one closes at the top."""
    getcontext().prec = 40
    area = (Decimal(TAIL) + 1) * (-Decimal(TAIL)).exp()
    for i in range(1, LAYERS):
        height = (-Decimal(END[i + 1])).exp() - (-Decimal(END[i])).exp()
        assert abs(Decimal(END[i]) * height / area - 1) < Decimal("1e-12")
        assert abs(HEIGHT[i] - math.exp(-END[i])) < 2e-16
    assert END[LAYERS] == 0.0
    assert len(END) == len(HEIGHT) == LAYERS + 1
