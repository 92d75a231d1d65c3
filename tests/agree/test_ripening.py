"""Simulators whose code changes while they run give the numbers of the optimised ones, to the last bit."""

from itertools import count

import pytest

from serq.codegen import ripening
from serq.codegen.ripening import Ripening
from serq.engine import stride
from serq.engine.run import simulator
from serq.engine.settings import Settings
from serq.engine.stride import Stride
from serq.pipeline import load_text

PROGRAM = load_text("""pool kv { cap 40; block 2; evict lru; }
stage svc : fifo; stage think : delay; stage shared : ps(1);
workload { arrive closed(8); }
session { loop {
  set t0 = now;
  hold kv (4) { run svc (~h2(1, 4)); run shared (~exp(0.1)); } cache (4);
  observe response = now - t0;
  run think (~erlang(2, 4));
} }""").program
SETTINGS = Settings(3, 100_000.0, 100.0, 32, keep_samples=False)


@pytest.mark.parametrize(("runs", "calls"), [(1, 4), (3, 18)])
def test_a_change_in_the_middle_of_a_run_changes_no_number(tmp_path, monkeypatch, runs, calls):
    optimised = simulator(PROGRAM, keep_samples=False, opt=2)
    monkeypatch.setenv("SERQ_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ripening, "thread_time", count().__next__)  # every call takes a second
    monkeypatch.setattr(stride, "FIRST", 1 << 20)
    monkeypatch.setattr(Stride, "took", lambda *_: None)  # and goes on for as many events, however long it takes
    changing = simulator(PROGRAM, keep_samples=False)
    assert isinstance(changing.compiled, Ripening)
    changing.compiled.patience = calls
    for k in range(runs):
        assert not changing.compiled.ripe
        assert changing.run(SETTINGS, k) == optimised.run(SETTINGS, k)
    assert changing.compiled.ripe
