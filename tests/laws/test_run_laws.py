"""Laws that every run obeys: Little, utilisation, flow balance, scaling of time, common random numbers."""

import math

import pytest
from running import answer, options, program_of, report, run, seen

from serq.semantics.reference import simulate

NETWORK = """let k = {k};
pool slots {{ cap 3; }} stage cpu : fifo(2); stage disk : ps(min(n, 2)); stage think : delay;
workload {{ arrive closed(7); }}
session {{ loop {{
  set t0 = now;
  hold slots (1) {{
    run cpu (~erlang(2, 1 * k));
    branch (0.4) {{ run disk (~h2(2 * k, 4)); }} else {{ run cpu (~uniform(0, k)); }}
  }}
  observe r = now - t0;
  run think (~exp(6 * k));
}} }}
run {{ horizon 4096 * k; warmup 512 * k; seed {seed}; }}"""

OPEN = """stage a : fifo; stage b : fifo(3); stage c : ps(1);
workload {{ arrive poisson(0.5); }}
session {{ run a (~exp(1)); run b (~exp(4)); branch (0.5) {{ run c (~uniform(0, 2)); }} end; }}
run {{ horizon {horizon}; warmup 0; seed {seed}; }}"""


@pytest.mark.parametrize("seed", [1, 2])
def test_littles_law_holds_at_every_stage_up_to_the_edges(seed):
    """number * time differs from throughput * sojourn * time by the stays that cross an edge of the window.

    From an empty start to the end of the window the only such stays are those of the jobs present at the end.
    """
    text = OPEN.format(horizon=4000, seed=seed)
    result = report(text, checked=False)
    for stage in "abc":
        number, rate, stay = (answer(result, f"stage.{stage}.{x}") for x in ("number", "throughput", "sojourn"))
        edge = number - rate * stay
        # a few dozen jobs present, each there for about a stay; with nobody there, the difference is one of rounding
        assert -1e-9 < edge * 4000 < 40 * stay + 200
        assert edge < 0.05 * number


def test_littles_law_is_exact_when_everybody_has_left():
    text = """stage s : fifo(2); stage p : ps(1); workload { arrive batch(40); }
      session { run s (~exp(1)); run p (~exp(1)); } run { horizon 200; }"""
    result = report(text)
    assert result.stability.kind == "drained"
    for stage in "sp":
        number, rate, stay = (answer(result, f"stage.{stage}.{x}") for x in ("number", "throughput", "sojourn"))
        assert number == pytest.approx(rate * stay, rel=1e-12)
    waiting, rate, wait = (answer(result, f"stage.s.{x}") for x in ("waiting", "throughput", "wait"))
    assert waiting == pytest.approx(rate * wait, rel=1e-12)


def test_the_utilisation_law():
    """Busy servers = throughput * mean service, up to the services that cross an edge."""
    result = report(NETWORK.format(k=1, seed=1), checked=False)
    service = result.stages[0].totals["mean_service"]
    assert answer(result, "stage.cpu.busy") == pytest.approx(answer(result, "stage.cpu.throughput") * service, rel=2e-3)
    assert answer(result, "stage.cpu.utilisation") == pytest.approx(answer(result, "stage.cpu.busy") / 2, rel=1e-12)


def test_flow_balance_and_population():
    result = report(NETWORK.format(k=1, seed=2), checked=False)
    rate = answer(result, "stage.think.throughput")
    assert answer(result, "pool.slots.admissions") == pytest.approx(rate, abs=8 / 3584)
    assert answer(result, "observe.r.rate") == pytest.approx(rate, abs=8 / 3584)
    everybody = sum(answer(result, x) for x in ("stage.cpu.number", "stage.disk.number", "stage.think.number"))
    assert everybody + answer(result, "pool.slots.queue") == pytest.approx(7, rel=1e-12)
    assert answer(result, "pool.slots.holders") == answer(result, "pool.slots.used") <= 3
    assert answer(result, "sessions.number") == 7


@pytest.mark.parametrize("power", [-10, 3, 20])
def test_all_times_by_a_power_of_two_gives_all_times_by_it_exactly(power):
    k = 2.0**power
    one, scaled = run(NETWORK.format(k=1, seed=5), checked=False), run(NETWORK.format(k=k, seed=5), checked=False)
    assert one.events == scaled.events
    assert [(t * k, s, v * k) for t, s, v in seen(one, "r")] == seen(scaled, "r")
    for name, series in one.series.items():
        other = scaled.series[name]
        timed = [x for x in ("numerator", "denominator") if getattr(series, x) != getattr(other, x)]
        for side in timed:
            assert tuple(x * k for x in getattr(series, side)) == getattr(other, side), (name, side)


def test_another_deployment_sees_the_same_sessions():
    """More servers, sharing in place of a queue, a smaller pool: every session draws the same values in its order."""
    text = """pool m {{ cap {cap}; }} stage svc : {kind}; stage think : delay;
      workload {{ arrive poisson(0.5); init {{ set work = ~exp(1); }} }}
      session {{ observe work = work; set turns = ~geometric(0.4); set k = 0;
        loop {{ hold m (1) {{ run svc (work); }}
          set z = ~h2(3, 2); observe z = z; run think (z); set k = k + 1; branch (k >= turns) {{ end; }} }} }}
      run {{ horizon 3000; seed 9; }}"""
    deployments = [("fifo", 9), ("fifo(4)", 2), ("ps(1)", 3), ("delay", 1)]
    draws = []
    for kind, cap in deployments:
        by_session = {}
        result = run(text.format(kind=kind, cap=cap), checked=False)
        for name in ("work", "z"):
            for _, session, value in seen(result, name):
                by_session.setdefault((name, session), []).append(value)
        draws.append(by_session)
    arrivals = [len([x for x in d if x[0] == "work"]) for d in draws]
    assert len(set(arrivals)) == 1, "the arrivals depend on the deployment"
    assert arrivals[0] > 1000
    for other in draws[1:]:
        for key, values in draws[0].items():
            shared = min(len(values), len(other.get(key, [])))
            assert values[:shared] == other.get(key, [])[:shared]


def test_a_session_of_another_population_draws_the_same():
    """Session 3 of 4 and of 40 think alike: its draws do not depend on how many others there are."""
    text = """stage d : delay; workload {{ arrive closed({n}); }}
      session {{ loop {{ set z = ~exp(1); run d (z); observe z = z; }} }} run {{ horizon 50; }}"""
    few, many = (simulate(p := program_of(text.format(n=n)), options(p, checked=False)) for n in (4, 40))
    of_three = [[v for _, s, v in seen(r, "z") if s == 3] for r in (few, many)]
    assert of_three[0] == of_three[1]
    assert len(of_three[0]) > 20


def test_the_order_of_sessions_does_not_matter_where_sessions_are_alike():
    """In a closed program at rest the sessions are exchangeable: each has the same share of the completions."""
    text = """stage svc : fifo; stage think : delay; workload { arrive closed(5); }
      session { loop { run svc (~exp(1)); observe who = serial; run think (~exp(2)); } }
      run { horizon 20000; warmup 100; seed 4; }"""
    who = [v for _, _, v in seen(run(text, checked=False), "who")]
    shares = [who.count(k) / len(who) for k in range(5)]
    # a session's completions have a variance below the Poisson one: 4.5 sigma, false alarm 5e-6 in all
    assert all(abs(x - 0.2) < 4.5 * math.sqrt(0.16 / len(who)) for x in shares)
