"""What is evicted into a tier is in one place at every moment: on the way, in the tier, or turned away there."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from deployments import PROGRAMS, corpus_of, deployment

from serq import models
from serq.base.errors import RunError
from serq.ir import program as p
from serq.ir.evaluate import Value
from serq.pipeline import load, load_text
from serq.semantics import replay as replays
from serq.semantics.configuration import Configuration, Entry, Transfer
from serq.semantics.invariants import check_invariants
from serq.semantics.replay import ReplayOptions, replay
from serq.semantics.world import Recorder
from serq.traces.corpus import Corpus


@dataclass
class Ledger(Recorder):
    """Units per pool: sent to a tier, arrived there, kept there, evicted from there."""

    sent: Counter[str] = field(default_factory=Counter)
    arrived: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    checks: int = 0

    def spilled(self, pool: int, entry: Entry, units: Value) -> None:
        self.sent["units"] += units

    def landed(self, pool: int, transfer: Transfer, units: Value) -> None:
        assert 0 <= units <= transfer.units
        self.arrived["units"] += transfer.units
        self.kept["units"] += units

    def check(self, program: p.Program, configuration: Configuration) -> None:
        """After every transition, with the invariants."""
        check_invariants(program, configuration)
        on_the_way = sum(
            job.transfer.units
            for stage in configuration.stages
            for job in (*stage.waiting, *stage.serving.values())
            if job.transfer is not None
        )
        assert self.sent["units"] == pytest.approx(self.arrived["units"] + on_the_way, rel=1e-12)
        self.checks += 1


def played(program: p.Program, corpus: Corpus | None, horizon: float | None, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    ledger = Ledger()
    monkeypatch.setattr(replays, "check_invariants", ledger.check)
    with suppress(RunError):  # it is named elsewhere; the ledger was right until then
        replay(program, corpus, ReplayOptions(checked=True, horizon=horizon, events=50_000), recorder=ledger)
    return ledger


def test_generated_deployments_with_a_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    ledgers = []
    for seed in range(PROGRAMS):
        made = deployment(seed)
        if "spill" in made.text:
            program = load_text(made.text).program
            ledgers.append(played(program, corpus_of(made, program), made.horizon, monkeypatch))
    assert len(ledgers) > PROGRAMS / 5
    assert sum(ledger.sent["units"] > 0 for ledger in ledgers) > PROGRAMS / 20


@pytest.mark.parametrize(("copy", "room"), [("0.01", "400"), ("0", "400"), ("0.5", "20"), ("0", "2")])
def test_the_shipped_tier(copy: str, room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tiers and slow links turn units away or let them come too late; none is ever in two places."""
    model = models.find("offload")
    assert model is not None
    program = load(Path(model.path), {"copy": copy, "room": room}).program
    ledger = played(program, None, 60.0, monkeypatch)
    assert ledger.sent["units"] > 100
    assert (ledger.kept["units"] < ledger.arrived["units"]) == (room == "2")


def test_nothing_is_lost_between_two_tiers_that_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies take no time and the host has room: ten contexts of 10 units are in one tier or the other, always."""
    model = models.find("offload")
    assert model is not None
    program = load(Path(model.path), {"copy": "0", "Z": "0.5"}).program
    totals: list[float] = []

    class Total(Ledger):
        def check(self, program: p.Program, configuration: Configuration) -> None:
            super().check(program, configuration)
            totals.append(sum(pool.used + pool.cached for pool in configuration.pools))

    monkeypatch.setattr(replays, "check_invariants", Total().check)
    replay(program, None, ReplayOptions(checked=True, horizon=200.0))
    full = totals.index(100.0)
    assert full < 200  # every session has had its first turn
    assert len(totals) > 900
    assert set(totals[full:]) == {100.0}
