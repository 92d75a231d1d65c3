from array import array

import pytest

from serq.codegen import compile_module, jit
from serq.codegen.seeds import stream
from serq.engine.seeding import keyed_chain, last_block

TEXT = "\n".join(
    [
        "from serq.codegen.lang import I64Array, U64Array, cold, i64, u64",
        "from serq.engine.sessions import turned",
        "class Sim:",
        "    message: U64Array",
        "    keyed: U64Array",
        "    words: U64Array",
        "    serial: I64Array",
        *last_block(),
    ]
)
BACKENDS = ("cpython", "llvm") if jit.available() else ("cpython",)


@pytest.mark.parametrize("backend", BACKENDS)
def test_streams_are_those_of_the_reference(backend):
    program = compile_module(TEXT, backend, checked=True, cached=False, opt=0)
    purposes = ("session", "workload")
    for seed in (0, 1, 255, 256, 2**64 + 3, 2**200 - 7):
        keyed = array("Q", [word for purpose in purposes for word in keyed_chain(seed, purpose)])
        for replication, serial in ((0, 0), (3, 17), (2**40, 2**63 - 1)):
            words, serials = array("Q", bytes(64)), array("q", [serial])
            sim = program.record("Sim", message=array("Q", [replication]), keyed=keyed, words=words, serial=serials)
            for place, purpose in enumerate(purposes):
                program.call("seed", sim, 0, place)
                assert list(words[4 * place : 4 * place + 4]) == stream(seed, replication, purpose, serial)
