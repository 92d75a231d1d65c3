"""What is made for a block of sessions at once is what each of them makes alone, to the last bit."""

from array import array

import pytest

from serq.codegen import compile_module, jit
from serq.codegen.blocks import BLOCK, WORDS
from serq.codegen.draws import draw_exp, draw_h2
from serq.codegen.seeds import stream_key
from serq.codegen.streams import next_bits, start_stream
from serq.codegen.ziggurat import END, STEP

BACKENDS = ("cpython", "llvm") if jit.available() else ("cpython",)
TEXT = """\
from serq.codegen.blocks import begin_block, block_exp, block_h2
from serq.codegen.lang import F64Array, U64Array, f64, i64
def words(key: U64Array, at: i64, serial: i64, s: U64Array) -> None:
    begin_block(key, at, serial, s)
def of_exp(key: U64Array, serial: i64, values: F64Array, room: F64Array, mean: f64) -> None:
    block_exp(key, serial, values, room, mean)
def of_h2(key: U64Array, serial: i64, values: F64Array, room: F64Array, mean: f64, cv2: f64) -> None:
    block_h2(key, serial, values, room, mean, cv2)
"""
SERIALS = (0, BLOCK, 2**40, 2**62)


@pytest.fixture(scope="module", params=BACKENDS)
def program(request):
    return compile_module(TEXT, request.param, cached=False)


def key(seed):
    return array("Q", [7, *stream_key(seed, 0, "session")])


def begun(seed, serial):
    words = array("Q", bytes(32))
    start_stream(key(seed), 1, serial, words, 0)
    return words


def decided(words, before):
    """Whether one word decides the exponential that comes after so many others in a stream."""
    for _ in range(before):
        next_bits(words)
    bits = next_bits(words)
    return (bits >> 11) * STEP[bits & 255] < END[(bits & 255) + 1]


@pytest.mark.parametrize("serial", SERIALS)
def test_streams(program, serial):
    words = array("Q", bytes(8 * WORDS))
    program.call("words", key(5), 1, serial, words)
    for i in range(BLOCK):
        assert list(words[i::BLOCK]) == list(begun(5, serial + i))


@pytest.mark.parametrize(
    ("name", "args", "draw", "before"),
    [
        ("of_exp", (1.7,), draw_exp, 0), ("of_h2", (1.3, 4.0), draw_h2, 1), ("of_h2", (2.0, 1.0), draw_h2, 1),
        ("of_h2", (1.0, 1e40), draw_h2, 1),
    ],
)  # fmt: skip
def test_first_draws(program, name, args, draw, before):
    values, room = array("d", bytes(8 * BLOCK)), array("d", bytes(8 * BLOCK))
    alone = 0
    for seed in range(20):
        for serial in SERIALS:
            program.call(name, key(seed)[1:], serial, values, room, *args)
            for i in range(BLOCK):
                words = begun(seed, serial + i)
                assert (room[i] > 0.0) == decided(words[:], before)
                alone += room[i] <= 0.0
                assert room[i] <= 0.0 or values[i] == draw(words, 0, *args)
    assert 12 <= alone <= 45, "of 1280 one in forty-five"
