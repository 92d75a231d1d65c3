from array import array

import pytest

from serq.codegen.seeds import stream
from serq.engine.memory import keyed_chain
from serq.engine.seeding import MASK, compress


@pytest.mark.parametrize("seed", [0, 1, 255, 256, 2**64 + 3, 2**200 - 7])
@pytest.mark.parametrize("purpose", ["session", "workload"])
@pytest.mark.parametrize(("replication", "serial"), [(0, 0), (3, 17), (2**40, 2**63 - 1)])
def test_streams_are_those_of_the_reference(seed, purpose, replication, serial):
    out = array("Q", bytes(64))
    compress(keyed_chain(seed, purpose), 0, [replication, serial, *[0] * 14], 144, MASK, out)
    assert list(out[:4]) == stream(seed, replication, purpose, serial)
