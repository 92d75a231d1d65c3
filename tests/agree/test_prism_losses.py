"""Open programs that are finite because sessions test how many are present: the PRISM text against the explorer."""

from fractions import Fraction

import pytest

from serq.compare.storm import check_prism, long_run
from serq.exporters.prism import Prism
from serq.exporters.rewards import ExportedMeasure
from serq.models import shipped
from serq.pipeline import SolveOptions, explore_chain, load_text, solve

ROUTED = """let N = 3; let c = 1; let lam = 2; let p = 0.25;
stage svc : fifo(c); stage d : delay; workload { arrive poisson(lam); }
session {
  observe blocked = busy(svc) + queue(svc) + busy(d) >= N;
  branch (busy(svc) + queue(svc) + busy(d) >= N) { end; }
  set t0 = now;
  branch (p) { run svc (~exp(1)); } else { run d (~exp(1)); }
  observe response = now - t0;
}
run { horizon 100; }"""
(LOSS,) = (m.path.read_text(encoding="utf-8") for m in shipped() if m.name == "loss")


@pytest.mark.parametrize("text", [ROUTED, LOSS], ids=["routed", "loss"])
@pytest.mark.parametrize("changes", [{}, {"lam": Fraction(1, 3)}])
def test_storm_reads_what_leaves_at_once_as_the_explorer_does(text, changes):
    program = load_text(text).program
    bound = int(max(explore_chain(program).state_rewards["sessions.number"]))
    made = Prism(bound=bound).export(program)
    constants = {**{k: Fraction(v) for k, v in made.open_constants.items()}, **changes}
    answer = check_prism(made.model, constants, [long_run(r) for r in made.rewards])
    values = dict(zip(made.rewards, answer.values, strict=True))
    changed = load_text(text, overrides={k: str(v) for k, v in changes.items()}).program
    exact = {e.measure: e.value for e in solve(changed, SolveOptions(exact=True)).estimates if e.value is not None}
    compared = 0
    for measure in made.measures:
        if isinstance(measure, ExportedMeasure) and measure.measure.name in exact:
            below = 1 if measure.denominator is None else values[measure.denominator]
            assert values[measure.numerator] / below == exact[measure.measure.name], measure.measure.name
            compared += 1
    assert compared > 10


def test_storm_counts_the_losses_where_nobody_may_enter() -> None:
    """The only state has no transition of its own, and Storm would find no reward there."""
    text = (
        "stage d : delay; workload { arrive poisson(0.3) limit (0); } session { run d (~exp(1)); observe x = 1; end; }"
    )
    made = Prism().export(load_text(text).program)
    lost = next(m for m in made.measures if isinstance(m, ExportedMeasure) and m.measure.name == "sessions.losses")
    assert check_prism(made.model, {}, [long_run(lost.numerator)]).values == (Fraction(3, 10),)
