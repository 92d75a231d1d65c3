"""The words of the language by their role, for every highlighter and for completion; each with a line about it.

A test holds the lists to the grammar and to the linker: a word that is missing here is found there.
"""

from collections.abc import Mapping

from serq.check.resolve import FUNCTIONS as FUNCTION_ARITIES
from serq.check.scopes import CONTEXT_NAMES, LONG_NAMES, where_readable

ITEMS: Mapping[str, str] = {
    "let": "`let NAME = expr;` a constant, which `--set NAME=EXPR` overrides",
    "pool": "`pool NAME { cap expr; ... }` a counted resource with an optional prefix cache",
    "stage": "`stage NAME : fifo | ps (rate) | delay | step { ... };` a place where time passes",
    "gauge": "`gauge NAME = expr;` a function of the state whose time average is reported",
    "workload": "`workload { arrive ...; }` how sessions come",
    "session": "`session { ... }` what every session does",
}
"""Words that begin a part of the program. (`run` does too, and is a statement as well.)"""

STATEMENTS: Mapping[str, str] = {
    "turn": "`turn;` the next turn begins: `turn_no` grows, a trace gives its row",
    "set": "`set NAME = expr;` give the session an attribute",
    "observe": "`observe NAME = expr;` report the mean, the rate and the quantiles of a value",
    "hold": "`hold POOL (units) { ... }` wait until the units fit, allocate them, release them at the end of the block",
    "grow": "`grow POOL (units);` enlarge the innermost hold",
    "drop": "`drop POOL;` discard the session's own cached prefix",
    "run": "`run STAGE (work);` spend work at a stage; `run { horizon ...; }` how long a simulation lasts",
    "branch": "`branch (p) { ... } else { ... }` take the first block with probability p",
    "else": "the block taken when a `branch` is not",
    "loop": "`loop { ... }` for ever, until `end`",
    "choose": "`choose NAME in m by (keys);` the index 0..m-1 with the smallest keys",
    "end": "`end;` the session ends",
    "arrive": "`arrive poisson (rate) | renewal (gap) | closed (n) | batch (n) | trace | none;`",
    "trace": '`trace "FILE.csv" [ordered];` a file of sessions to replay',
    "init": "`init { ... }` set when a session arrives",
}
"""Words that begin a statement or an item of the workload."""

CLAUSES: Mapping[str, str] = {
    "in": "`choose NAME in m by (keys);`",
    "by": "`by (key, ...)`: the smallest keys first",
    "with": "`branch with (p)` is `branch (p)`; `trace ... with (columns)` names further columns",
    "reserve": "`hold POOL (units) reserve (more)` room that must be free as well",
    "reuse": "`reuse (units)` the most that is consumed of the own cached prefix",
    "cache": "`} cache (units);` what stays cached when the hold ends",
    "growing": "`run STAGE (work) growing POOL;` the hold grows with the tokens",
    "limit": "`limit (K)` an arrival that finds K sessions present is lost",
    "ordered": "sessions of the trace in the order of the file",
    "via": "`admit via STAGE;`, `spill POOL via STAGE (work) when (condition);`",
    "when": "`spill ... when (condition);`",
}
"""Words inside a statement."""

OPTIONS: Mapping[str, str] = {
    "cap": "`cap expr;` units of a pool; infinite by default",
    "block": "`block expr;` allocation and caching granule",
    "evict": "`evict lru;` or `evict by (keys);` whose cached entry goes first",
    "preempt": "`preempt none;`, `preempt lifo;` or `preempt by (keys);` what a growth that finds no room does",
    "queue": "`queue fifo;` or `queue by (keys);` whom an admission tries first",
    "admit": "`admit via STAGE;` the queue is served by that step stage",
    "pin": "`pin waiting;` entries whose owner waits are never victims",
    "spill": "`spill POOL via STAGE (work) when (condition);` offload tier",
    "budget": "`budget expr;` tokens of an iteration",
    "cost": "`cost expr;` duration of an iteration",
    "chunk": "`chunk expr;` most prefill tokens of one session in an iteration",
    "exclusive": "`exclusive prefill;` no decoding in an iteration that prefills",
    "plan": "`plan ahead;` an iteration is put together before the one before it ends",
    "memory": "`memory POOL;` the pool that `kvb` and `kvp` look at",
    "horizon": "`horizon expr;` time at which a run ends",
    "warmup": "`warmup expr;` time before which nothing is counted",
    "seed": "`seed expr;` seed of all random streams",
}
"""Words that begin an option of a pool, a step stage or the run."""

KINDS: Mapping[str, str] = {
    "fifo": "`fifo (c)` c servers, first come first served",
    "ps": "`ps (rate)` the rate is shared equally by the `n` present",
    "delay": "`delay` everybody alone at rate 1",
    "step": "`step { budget ...; cost ...; }` iterations of a serving engine",
    "lru": "least recently used first",
    "lifo": "the last admitted first",
    "none": "nothing",
    "poisson": "`poisson (rate)` exponential gaps, the first arrival at time 0",
    "renewal": "`renewal (gap)` independent gaps",
    "closed": "`closed (n)` n sessions; one that ends is replaced at once",
    "batch": "`batch (n)` n sessions at time 0",
    "prefill": "the part of a request that reads the prompt",
    "decode": "the part of a request that writes tokens; `decode first;` schedules it first",
    "first": "`decode first;`",
    "ahead": "`plan ahead;`",
    "waiting": "`pin waiting;`",
}
"""Words that name a kind of something."""

KEYWORDS: Mapping[str, str] = {**ITEMS, **STATEMENTS, **CLAUSES, **OPTIONS, **KINDS}

FUNCTIONS: Mapping[str, str] = {
    name: f"`{name}`: a function of {low if low == high else f'{low} or more'} argument{'s' * (high != 1)}"
    for name, (low, high) in FUNCTION_ARITIES.items()
}
OBSERVABLES: Mapping[str, str] = {
    "queue": "`queue(STAGE)` jobs waiting",
    "busy": "`busy(STAGE)` jobs in service",
    "work": "`work(STAGE)` unfinished work",
    "used": "`used(POOL)` allocated units",
    "free": "`free(POOL)` units that are neither allocated nor cached",
    "cachedin": "`cachedin(POOL)` the session's own cached units",
    "holders": "`holders(POOL)` number of holds",
    "queued": "`queued(POOL)` waiting holds",
    "budget_left": "`budget_left(STAGE)` tokens left in the iteration that is being put together",
    "est_lambda": "`est_lambda(STAGE)` measured arrival rate",
    "est_rho": "`est_rho(STAGE)` measured utilisation",
    "est_wait": "`est_wait(STAGE)` measured mean wait",
    "price": "`price(STAGE, s_hit, ds)` the M/G/1 price of ds more work",
}
"""Functions that look at the state."""

DRAWS: Mapping[str, str] = {
    "exp": "`~exp(mean)`",
    "det": "`~det(x)`: no chance at all",
    "uniform": "`~uniform(lo, hi)`",
    "erlang": "`~erlang(k, mean)`: the mean of the whole",
    "h2": "`~h2(mean, cv2)`: two-phase hyperexponential with balanced means",
    "bernoulli": "`~bernoulli(p)`: 1 with probability p, else 0",
    "geometric": "`~geometric(p)`: number of trials, at least 1",
    "choice": "`~choice(v1: w1, v2: w2, ...)`: one of the values, by weight",
}
ATTRIBUTES: Mapping[str, str] = {
    "now": "the present time",
    "serial": "arrival number of the session, from 0",
    "turn_no": "number of the turn, from 1",
    "cached": "units of the own prefix that the last admission consumed",
    "computed": "the largest position that this hold reached over all its executions",
    "inf": "infinity",
}
"""Names that every session has."""

CONTEXT: Mapping[str, str] = {
    name: f"readable in {where_readable(short)}" + (f"; long form of `{short}`" if name in LONG_NAMES else "")
    for name, short in CONTEXT_NAMES.items()
}
"""Context variables, each readable in a few places only."""
