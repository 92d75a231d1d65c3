"""Random programs with step stages and no memory: budgets, chunks, costs and orders of service, and clocks that tie.

A program is a function of its seed.
"""

from random import Random

_BUDGETS = (
    "7", "1", "64", "inf", "max(ndec, 4.5)", "nres > 2 ? 3 : 16", "8 + serial % 3 - kvb", "2.25",
    "9 - budget_left(engine)", "3 + budget_left(pair[nres % 2]) / 2",
)  # fmt: skip
_COSTS = (
    "1", "0.5 + ntok / 16", "0.25 + 0.125 * ndec", "0.5 + attn / 64 + npre / 32", "0.1 * nres + 0.3 * busy(d)",
    "(ntok > 4 ? 0.5 : 0) + kvp", "1 / 3 + min(budget_left(engine), 5) % 2",
)  # fmt: skip
_CHUNKS = (
    "", "", "chunk 3;", "chunk nres > 2 ? 2 : 5;", "chunk 0;", "chunk 1.5;", "chunk 1 + budget_left(pair[1]) % 4;",
)  # fmt: skip
_ARRIVALS = ("closed(5)", "batch(6)", "poisson(0.6) limit(9)", "renewal(2)", "renewal(~choice(0: 1, 0.5: 2, 3: 1))")
_PREFILLS = ("1 + floor(~uniform(0, 20))", "~geometric(0.2)", "~choice(3: 1, 9: 2, 17: 1)", "~uniform(0, 6)")
_DECODES = ("~geometric(0.3)", "1 + ~bernoulli(0.5) * 4", "~choice(1: 1, 5: 1, 0: 1)", "~uniform(0, 3)")
_FACTS = (
    "busy(engine)", "queue(engine)", "work(engine)", "budget_left(engine)", "busy(pair[e])", "work(pair[1 - e])",
    "budget_left(pair[e])", "busy(d)", "now",
)  # fmt: skip


def _stage(random: Random) -> str:
    budget = random.choice(_BUDGETS).replace("serial % 3 - ", "0 * nres + ")
    options = [f"budget {budget};", f"cost {random.choice(_COSTS)};", random.choice(_CHUNKS)]
    options += [word for word in ("decode first;", "exclusive prefill;", "plan ahead;") if random.random() < 0.2]
    return f"step {{ {' '.join(options)} }}"


def _run(random: Random) -> str:
    place = random.choice(("engine", "engine", "pair[e]", "pair[1 - e]"))
    if random.random() < 0.5:
        return f"run {place} prefill ({random.choice(_PREFILLS)});"
    return f"run {place} decode ({random.choice(_DECODES)});"


def _statement(random: Random) -> str:
    roll = random.random()
    if roll < 0.55:
        return _run(random)
    if roll < 0.7:
        return random.choice(("run d (1);", "run p (0.5);", "run f (~exp(0.5));", "run d (~exp(1));"))
    if roll < 0.8:
        return "choose e in 2 by (work(pair[e]) + busy(pair[e]), -e);"
    if roll < 0.9:
        return f"branch ({random.choice(('0.5', 'k % 2 == 0', 'busy(engine) > 1'))}) {{ {_run(random)} }}"
    return "set e = 1 - e;"


def step_program(seed: int) -> str:
    """The program of a seed."""
    random = Random(seed)
    stages = [f"stage engine : {_stage(random)}", f"stage pair[2] : {_stage(random)}", "stage d : delay;"]
    stages += ["stage p : ps(1);", "stage f : fifo;"]
    random.shuffle(stages)
    facts = " + ".join(random.sample(_FACTS, 3))
    body = " ".join(_statement(random) for _ in range(random.randint(1, 4)))
    arrivals = random.choice(_ARRIVALS)
    stop = "branch (k > 3) { end; }" if "closed" not in arrivals or random.random() < 0.5 else ""
    return (
        "\n".join(stages)
        + f"\ngauge g = busy(engine) + 2 * queue(engine);\nworkload {{ arrive {arrivals}; }}\n"
        + "session { set k = 0; set e = serial % 2; loop { set k = k + 1; set t = now; run d (0.25);\n"
        + f"  run engine prefill ({random.choice(_PREFILLS)}); observe first = now - t; {body}\n"
        + f"  observe fact = {facts}; run engine decode ({random.choice(_DECODES)}); observe stay = now - t; {stop}"
        + " } }\n"
        + "run { horizon 60; warmup 7; seed 3; }\n"
    )


def traced_program(seed: int) -> tuple[str, str]:
    """A program that replays a trace, and the trace; sessions of the trace may begin together, or not be in order."""
    random = Random(seed)
    arrive = random.choice(("trace", "trace", "poisson(0.8) limit(20)", "closed(3)", "batch(5)"))
    ordered = random.choice((" ordered", ""))
    last = "branch (more) { run d (think); } else { end; }" if "closed" not in arrive else "run d (think + 0.5);"
    text = (
        f"stage engine : {_stage(random)}\nstage pair[2] : {_stage(random)}\nstage d : delay; stage p : ps(1);\n"
        f'workload {{ arrive {arrive}; trace "t.csv"{ordered} with (urgency);'
        " init { set born = ~exp(1); }"
        " turn { set extra = ~bernoulli(0.5) + urgency; observe row = new + 100 * out; } }\n"
        "session { set e = serial % 2; loop { turn; set t = now; run engine prefill (forced ? new : new / 2);\n"
        "  observe first = now - t + born; run pair[e] decode (out + extra); observe stay = now - t; run p (0.25);\n"
        f"  {last} }} }}\nrun {{ horizon 60; warmup 7; seed 3; }}\n"
    )
    rows = ["session,turn,new,out,think,forced,start,urgency"]
    for session in random.sample(range(20), random.randint(3, 9)):
        start = random.choice((0, 0, 2, 5.5, 5.5, 11)) if random.random() < 0.7 else 0
        for turn in range(1, random.randint(1, 4) + 1):
            numbers = [random.randint(1, 20), random.randint(0, 9), random.choice((0, 0.5, 3)), random.randint(0, 1)]
            rows.append(",".join(map(str, [session, turn, *numbers, start, random.randint(0, 3)])))
    return text, "\n".join(rows) + "\n"
