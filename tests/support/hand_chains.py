"""Chains made by hand or at random, for tests of what reads chains."""

import random
from fractions import Fraction

from serq.ir.chain import Chain, RateSymbol, Ratio, Transition


def make_chain(rows, *, initial=0, rewards=None, impulses=None, labels=None, lines=None, ratios=(), name="hand"):
    """`rows[i]` maps targets to rates; `impulses[i, j]` names what a passage from i to j earns."""
    rewards, impulses, labels, lines = rewards or {}, impulses or {}, labels or {}, lines or {}
    start = initial if isinstance(initial, dict) else {initial: 1}
    rates = sorted({Fraction(rate) for row in rows for rate in row.values()})
    transitions = tuple(
        Transition(
            i,
            j,
            Fraction(rate),
            Fraction(1),
            rates.index(Fraction(rate)),
            tuple(sorted(impulses.get((i, j), {}).items())),
        )
        for i, row in enumerate(rows)
        for j, rate in row.items()
    )
    return Chain(
        name=name,
        states=tuple(f"s{i}" for i in range(len(rows))),
        initial=tuple((state, Fraction(p)) for state, p in start.items()),
        symbols=tuple(RateSymbol(str(rate), rate) for rate in rates),
        transitions=transitions,
        state_rewards={key: tuple(Fraction(v) for v in vector) for key, vector in rewards.items()},
        labels={key: frozenset(members) for key, members in labels.items()},
        ratios=tuple(ratios),
        lines=lines,
    )


def birth_death(births, deaths):
    """Rows of a birth-death chain: `births[i]` from i to i + 1, `deaths[i]` from i + 1 to i."""
    rows = [{} for _ in range(len(births) + 1)]
    for i, (up, down) in enumerate(zip(births, deaths, strict=True)):
        rows[i][i + 1] = Fraction(up)
        rows[i + 1][i] = Fraction(down)
    return rows


def finite_source(n, mu=Fraction(1), think=Fraction(4)):
    """M/M/1//n with the rewards and ratios that an explorer would give it; state i has i jobs at the station."""
    mu, think = Fraction(mu), Fraction(think)
    rows = birth_death([(n - i) / think for i in range(n)], [mu] * n)
    number = range(n + 1)
    return make_chain(
        rows,
        rewards={
            "stage.svc.number": number,
            "stage.svc.waiting": [max(0, i - 1) for i in number],
            "stage.svc.busy": [min(1, i) for i in number],
        },
        impulses={(i + 1, i): {"stage.svc.completions": Fraction(1)} for i in range(n)},
        labels={"empty": [0], "full": [n]},
        ratios=[
            Ratio("stage.svc.number", ((Fraction(1), "stage.svc.number"),)),
            Ratio("stage.svc.waiting", ((Fraction(1), "stage.svc.waiting"),)),
            Ratio("stage.svc.busy", ((Fraction(1), "stage.svc.busy"),)),
            Ratio("stage.svc.utilisation", ((Fraction(1), "stage.svc.busy"),)),
            Ratio("stage.svc.throughput", ((Fraction(1), "stage.svc.completions"),)),
            Ratio("stage.svc.wait", ((Fraction(1), "stage.svc.waiting"),), "stage.svc.completions"),
            Ratio("stage.svc.sojourn", ((Fraction(1), "stage.svc.number"),), "stage.svc.completions"),
        ],
        lines={i: (3,) for i in number},
        name="mm1n",
    )


def tandem(n, think=Fraction(4), first=Fraction(1), second=Fraction(2)):
    """Rows of the closed network think -> first -> second with n jobs: a lattice, too wide for a narrow band."""
    states = [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]
    place = {state: i for i, state in enumerate(states)}
    rows = []
    for a, b in states:
        row = {}
        if a + b < n:
            row[place[a + 1, b]] = Fraction(n - a - b) / Fraction(think)
        if a:
            row[place[a - 1, b + 1]] = 1 / Fraction(first)
        if b:
            row[place[a, b - 1]] = 1 / Fraction(second)
        rows.append(row)
    return rows


def random_rows(seed, size, extra=2, top=9):
    """Rows of an irreducible chain: a cycle through all states in random order, and `extra` more rates per state."""
    rng = random.Random(seed)
    order = list(range(size))
    rng.shuffle(order)

    def rate():
        return Fraction(rng.randint(1, top), rng.randint(1, top))

    rows = [{} for _ in range(size)]
    for i, j in zip(order, order[1:] + order[:1], strict=True):
        if i != j:
            rows[i][j] = rate()
    for i in range(size):
        for _ in range(extra):
            j = rng.randrange(size)
            if j != i:
                rows[i][j] = rate()
    return rows
