"""Rules of the scheduler that no stated scenario shows by itself, on requests made for them.

What must come out is worked out by hand from the rules; the recordings that show them (sessions that share prefixes)
are not for a cache that is keyed by session.
"""

from pathlib import Path

import pytest
from scenarios import MODELS

from serq.pipeline import load
from serq.semantics.configuration import Job
from serq.semantics.replay import Replayed, ReplayOptions, replay
from serq.semantics.step_log import Step
from serq.semantics.world import Recorder
from serq.traces.reader import read_trace

HEADER = "session,turn,new,out,think,arrived,common,place,priority\n"


class Prefills(Recorder):
    """Counts the prefills that were completed, by session: each ends in a token."""

    def __init__(self) -> None:
        self.completions: dict[int, int] = {}

    def completed(self, stage: int, job: Job) -> None:
        if job.phase == "prefill" and job.session is not None:
            self.completions[job.session.serial] = self.completions.get(job.session.serial, 0) + 1


def played(
    folder: Path, rows: list[tuple[int, ...]], model: str = "vllm_request", **sets: int
) -> tuple[Replayed, list[Step], Prefills]:
    """Rows are (session, turn, new, out, arrived, common, place, priority)."""
    lines = [f"{s},{t},{new},{out},0,{arrived},{c},{p},{u}\n" for s, t, new, out, arrived, c, p, u in rows]
    text = HEADER + "".join(lines)
    if model == "vllm_request":
        text = "".join(line.rpartition(",")[0] + "\n" for line in text.splitlines())
    path = folder / "t.csv"
    path.write_text(text)
    constants = {"B": 256, "max_seqs": 8, "blocks": 8, "chunk": 0} | sets
    program = load(MODELS / f"{model}.sq", constants).program
    assert program.trace is not None
    steps: list[Step] = []
    prefills = Prefills()
    options = ReplayOptions(checked=True, strict=True)
    result = replay(program, read_trace(path, program.trace.columns), options, steps.append, prefills)
    return result, steps, prefills


def hits(steps: list[Step]) -> list[tuple[float, str, float]]:
    return [(step.start, name, hit) for step in steps for name, hit in step.admitted]


def victims(steps: list[Step]) -> list[tuple[float, str]]:
    return [(step.start, name) for step in steps for name in step.preempted]


def test_a_resumed_request_hits_what_it_generated_too(tmp_path: Path) -> None:
    """Section 4: known includes generated tokens. Request 1 has a prompt of 16; it is preempted at position 48, and
    request 0 takes the last of its three blocks: two are left to be hit.
    """
    _, steps, _ = played(tmp_path, [(0, 1, 32, 40, 0, 0, 0, 0), (1, 1, 16, 60, 0, 0, 1, 0)], blocks=7)
    ((when, victim),) = victims(steps)
    assert (when, victim) == (33.0, "1.1")
    assert hits(steps)[-1] == (40.0, "1.1", 32.0)


@pytest.mark.parametrize(("common", "hit"), [(0, 0), (15, 0), (16, 16), (40, 32), (64, 48)])
def test_a_hit_needs_the_same_content_in_whole_blocks(tmp_path: Path, common: int, hit: int) -> None:
    """Sections 4 and 6: the first turn leaves floor((60 + 6 - 1)/16) = 4 blocks; `common` tokens are alike."""
    _, steps, _ = played(tmp_path, [(0, 1, 60, 6, 0, 0, 0, 0), (0, 2, 64, 1, 9, common, 1, 0)])
    assert hits(steps) == [(0.0, "0.1", 0.0), (9.0, "0.2", hit)]


def test_the_last_token_is_never_computed(tmp_path: Path) -> None:
    """Section 6: 58 + 7 tokens were known and 64 computed, so four blocks are cached; with 6 only three."""
    for out, hit in ((7, 64), (6, 48)):
        _, steps, _ = played(tmp_path, [(0, 1, 58, out, 0, 0, 0, 0), (0, 2, 80, 1, 9, 64, 1, 0)])
        assert hits(steps)[1][2] == hit


def test_a_request_that_is_preempted_again_while_it_recomputes_generates_no_token_twice(tmp_path: Path) -> None:
    """Section 8: its tokens stay, however often. Request 2 comes back in chunks of 4 and is preempted in between."""
    rows = [(0, 1, 16, 70, 0, 0, 0, 0), (1, 1, 16, 70, 0, 0, 1, 0), (2, 1, 30, 20, 0, 0, 2, 0)]
    result, steps, prefills = played(tmp_path, rows, blocks=8, chunk=4, caching=0, reserve_whole=0)
    again = [name for _, name in victims(steps)]
    assert max(again.count(name) for name in again) > 1
    assert [r.done is not None for r in result.requests] == [True] * 3
    assert sum(prefills.completions.values()) + sum(step.ndec for step in steps) == 70 + 70 + 20


def test_of_equal_priority_the_latest_arrival_is_the_victim(tmp_path: Path) -> None:
    """Section 9. Request 0 and 1 are equally urgent, request 2 more so, and first of all in the running list."""
    rows = [(2, 1, 16, 60, 0, 0, 0, 1), (1, 1, 16, 60, 2, 0, 0, 2), (0, 1, 16, 60, 1, 0, 0, 2)]
    _, steps, _ = played(tmp_path, rows, "vllm_priority", blocks=6)
    assert victims(steps)[0][1] == "1.1"


def test_its_own_victim_ends_the_handing_out_of_tokens(tmp_path: Path) -> None:
    """Section 9: request 0, the least urgent, needs a block in step 17 and gives its own back; request 1, behind it in
    the running list, gets no token in that step, although there is memory now.
    """
    rows = [(0, 1, 32, 60, 0, 0, 0, 9), (1, 1, 33, 60, 1, 0, 1, 1)]
    _, steps, _ = played(tmp_path, rows, "vllm_priority", blocks=6)
    assert victims(steps)[0] == (17.0, "0.1")
    scheduled = {step.start: [name for name, _ in step.scheduled] for step in steps}
    assert [scheduled[when] for when in (16.0, 17.0, 18.0)] == [["0.1", "1.1"], [], ["1.1"]]
