"""Closed forms against the explored chain: on generated programs every measure that both give is the same rational."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest

from serq.closedforms.match import match
from serq.pipeline import SolveOptions, load_text, solve

F = Fraction


@dataclass
class Draws:
    """Small rationals and laws, from one seed."""

    chance: random.Random

    def number(self) -> str:
        return f"{self.chance.randint(1, 5)} / {self.chance.randint(1, 4)}"

    def exponential(self) -> str:
        return f"~exp({self.number()})"

    def any_law(self) -> str:
        return self.chance.choice([self.exponential(), self.exponential(), f"~erlang(2, {self.number()})"])


def closed_program(seed: int) -> str:
    """A closed network: a loop of visits in random order with branches, feedback, marks and observes."""
    d = Draws(random.Random(seed))
    population = d.chance.randint(1, 3)
    kinds = ["fifo", "fifo(2)", "ps(1)", "ps(min(n, 2))", "ps(n / (1 + n))", "delay", "delay"]
    stages = [d.chance.choice(kinds) for _ in range(d.chance.randint(2, 3))]
    mean = [d.exponential() for _ in stages]  # one law of work at a first come first served stage
    lines = [f"stage s{i} : {kind};" for i, kind in enumerate(stages)]

    def run(i: int) -> str:
        return f"run s{i} ({mean[i] if stages[i].startswith('fifo') else d.any_law()});"

    body = ["set t = now;"]
    for i in d.chance.sample(range(len(stages)), len(stages)):
        match d.chance.randrange(4):
            case 0:
                other = d.chance.randrange(len(stages))
                body.append(f"branch ({d.chance.randint(1, 4)} / 5) {{ {run(i)} }} else {{ {run(other)} }}")
            case 1:
                body.append(f"set u = now; {run(i)} observe o{i} = now - u;")
            case 2:
                body.append(f"set w = {mean[i]}; run s{i} (w); observe v{i} = now - t - w;")
            case _:
                body.append(run(i))
    body.append("observe cycle = now - t;")
    if d.chance.random() < 0.5:
        body.append(f"branch ({d.chance.randint(1, 3)} / 4) {{ observe again = 1; }} else {{ {run(0)} end; }}")
    lines += [f"workload {{ arrive closed({population}); }}", "session { loop { " + " ".join(body) + " } }"]
    return "\n".join(lines)


def limited_program(seed: int) -> str:
    """Poisson arrivals with a limit, through one to three stations."""
    d = Draws(random.Random(seed))
    kinds = ["fifo", "fifo(2)", "ps(2)", "delay"]
    stages = [d.chance.choice(kinds) for _ in range(d.chance.randint(1, 3))]
    runs = "".join(f"run s{i} ({d.exponential()});" for i in range(len(stages)))
    again = f"branch ({d.chance.randint(1, 3)} / 4) {{ observe r = now - t; end; }}"
    return "\n".join(
        [f"stage s{i} : {kind};" for i, kind in enumerate(stages)]
        + [f"workload {{ arrive poisson({d.number()}) limit({d.chance.randint(1, 4)}); }}"]
        + [f"session {{ set t = now; loop {{ {runs} {again} }} }}"]
    )


def loss_program(seed: int) -> str:
    """A finite source that tests for room."""
    d = Draws(random.Random(seed))
    servers, room, population = d.chance.randint(1, 2), d.chance.randint(1, 3), d.chance.randint(1, 4)
    work = d.exponential()
    return f"""
        stage s : fifo({servers}); stage z1 : delay; stage z2 : delay;
        workload {{ arrive closed({population}); }}
        session {{ loop {{
          set t = now; run z1 ({d.any_law()}); branch (1 / 3) {{ run z2 ({d.any_law()}); }}
          set full = busy(s) + queue(s) >= {room};
          observe lost = full; branch (!full) {{ set a = now; run s ({work}); observe r = now - a; }}
          observe cycle = now - t;
        }} }}"""


def kinds_program(seed: int) -> str:
    """Two kinds of session that share processor sharing and delay stations, and a first come first served one."""
    d = Draws(random.Random(seed))
    shared = d.exponential()
    share = d.chance.choice(["ps(1)", "ps(min(n, 2))", "ps(n / (2 + n))"])
    ways = [f"run p ({d.any_law()}); run q ({shared});", f"run q ({shared}); set u = now; run p ({d.exponential()});"]
    return f"""
        stage p : {share}; stage q : fifo; stage z : delay;
        workload {{ arrive closed({d.chance.randint(2, 3)}); init {{ set k = serial >= 1; }} }}
        session {{ loop {{
          branch (k) {{ {ways[0]} observe first = 2; }} else {{ {ways[1]} observe second = now - u; }}
          run z ({d.exponential()}); }} }}"""


PROGRAMS = [
    (make, seed) for make in (closed_program, limited_program, loss_program, kinds_program) for seed in range(15)
]


@pytest.mark.parametrize(("make", "seed"), PROGRAMS, ids=lambda x: getattr(x, "__name__", x))
def test_closed_form_is_the_chain(make: Callable[[int], str], seed: int) -> None:
    text = make(seed)
    program = load_text(text).program
    found = match(program)
    assert found.matches, f"{text}\n{found.why_not}"
    solved = solve(program, SolveOptions(exact=True, states=3000))
    exact = {e.measure: e.value for e in solved.estimates if e.value is not None}
    compared = 0
    for one in found.matches:
        for estimate in one.estimates:
            if estimate.value is not None and estimate.measure in exact:
                assert estimate.value == exact[estimate.measure], f"{text}\n{one.formula.name}: {estimate.measure}"
                assert isinstance(estimate.value, Fraction)
                compared += 1
    assert compared >= 8


OPEN = [
    ("stage s : fifo;", "run s (~exp(1));", F(1, 2), 40),
    ("stage s : fifo(2);", "run s (~exp(1));", F(1), 40),
    ("stage s : ps(1);", "run s (~erlang(2, 1));", F(1, 3), 20),
    ("stage s : fifo;", "run s (~erlang(2, 1));", F(1, 3), 40),
    # every order of long and short jobs in the queue is a state
    ("stage s : fifo;", "branch (1 / 4) { run s (~exp(2)); } else { run s (~exp(1 / 2)); }", F(1, 8), 11),
    ("stage s : fifo; stage b : fifo;", "run s (~exp(1 / 2)); branch (1 / 3) { run b (~exp(1 / 2)); }", F(2, 5), 14),
]


@pytest.mark.parametrize(("stages", "body", "rate", "limit"), OPEN)
def test_an_open_program_is_the_limit_of_limited_ones(stages: str, body: str, rate: Fraction, limit: int) -> None:
    text = f"{stages} workload {{ arrive poisson({rate}); }} session {{ set t = now; {body} observe r = now - t; }}"
    program = load_text(text).program
    found = match(program)
    assert found.matches
    solved = solve(program, SolveOptions(exact=False, limit=limit))
    near = {e.measure: e.value for e in solved.estimates}
    for estimate in found.estimates:
        if estimate.value is not None and estimate.measure != "sessions.losses":
            value = near[estimate.measure]
            assert value is not None
            assert float(value) == pytest.approx(float(estimate.value), rel=1e-5), estimate.measure
