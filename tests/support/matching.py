"""Programs that formulas fit, with places left for what makes them fit or not, and what a match says."""

from serq.closedforms.match import match
from serq.closedforms.matches import Match, Matches
from serq.ir.expr import Number
from serq.pipeline import load_text

MM1N = """
let N = 8;  let mu = 1.0;  let Z = 4.0;
stage svc : fifo;  stage think : delay;
workload { arrive closed(N); }
session { loop {
  set t0 = now;  set s = ~exp(1 / mu);
  run svc (s);
  observe wait = now - t0 - s;  observe response = now - t0;
  run think (~exp(Z));
} }
"""

LOSS = """
let lam = 50;  let mu = 37;  let c = 2;  let K = 7;
stage svc : fifo(c);
workload { arrive poisson(lam); }
session { %s }
"""

OPEN = """
let lam = 0.5;
stage svc : %s;  stage think : delay;
workload { arrive %s; }
session { set t = now; run svc (%s); observe response = now - t; run think (1); observe whole = now - t; }
"""

ENGSET = """
let N = 5; let c = 2; let mu = 1; let Z = 4;
stage svc : fifo(c); stage think : delay;
workload { arrive closed(N); }
session { loop {
  run think (~exp(Z));
  branch (busy(svc) + queue(svc) < %s) { run svc (%s); observe lost = 0; } else { observe lost = 1; }
} }
"""


def matched(text: str, **sets: str) -> Matches:
    return match(load_text(text, overrides=sets).program)


def values(found: Matches | Match) -> dict[str, Number]:
    return {e.measure: e.value for e in found.estimates if e.value is not None}


def bindings(found: Match) -> dict[str, tuple[object, str]]:
    return {b.name: (b.value, b.text) for b in found.bindings}


def names(found: Matches) -> list[str]:
    return [m.formula.name for m in found.matches]
