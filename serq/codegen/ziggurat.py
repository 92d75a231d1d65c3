"""The tables of the exponential ziggurat, computed once when they are imported.

Source: G. Marsaglia, W. W. Tsang, The ziggurat method for generating random variables, J. Stat. Software 5 (2000).
"""

from serq.codegen.elementary import exp, log

LAYERS = 256
"""Layers of equal area under exp(-x); the lowest has the tail beyond `TAIL` instead of a rectangle's end."""
TAIL = float.fromhex("0x1.ec9d9297ebb83p+2")
"""The x at which 256 layers of area (1 + x) exp(-x) close exactly at the top."""
UNIT = 2.0**-53


def _ends() -> tuple[float, ...]:
    """The right ends of the layers, with the lowest widened to the common area, and 0 at the top."""
    area = (TAIL + 1.0) * exp(-TAIL)
    ends = [area / exp(-TAIL), TAIL]
    for i in range(1, LAYERS - 1):
        ends.append(-log(area / ends[i] + exp(-ends[i])))
    return (*ends, 0.0)


END = _ends()
"""Right ends by layer, LAYERS + 1 of them."""
HEIGHT = tuple(exp(-x) for x in END)
"""exp(-right end)."""
STEP = tuple(x * UNIT for x in END)
"""What a 53-bit number is multiplied with to be uniform up to the right end."""
