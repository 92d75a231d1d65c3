"""Levels of a chain for its solvers: how many sessions are not at a delay."""

import numpy as np
from numpy.typing import NDArray

from serq.ir import program as p
from serq.ir.chain import Chain
from serq.ir.packed import PackedRewards


def sessions_away(chain: Chain, program: p.Program) -> NDArray[np.int64]:
    """Per state, the number of sessions that are not at a delay: between delays a program mixes fast, and over them
    slowly.
    """
    out = _reward(chain, "sessions.number")
    for stage in program.stages:
        if isinstance(stage.kind, p.Delay):
            out = out - _reward(chain, f"stage.{stage.name}.number")
    return out.astype(np.int64)


def _reward(chain: Chain, name: str) -> NDArray[np.float64]:
    rewards = chain.state_rewards
    return rewards.doubles(name) if isinstance(rewards, PackedRewards) else np.array([float(x) for x in rewards[name]])
