"""The models of the benchmark, in words that serQ and its peer both read."""

from dataclasses import dataclass

CLOSED = """
let N = {population};
stage svc : fifo;
stage think : delay;
workload {{ arrive closed(N); }}
session {{ loop {{ run think (~exp({think})); set begun = now; run svc (~exp(1)); observe response = now - begun; }} }}
"""

OPEN = """
stage svc : {kind};
workload {{ arrive poisson(0.8); }}
session {{ set begun = now; run svc (~h2(1, 4)); observe response = now - begun; }}
"""

CENTRAL = """
stage cpu : fifo;
stage fast : fifo;
stage slow : fifo;
stage terminal : delay;
workload { arrive closed(16); }
session {
  loop {
    run terminal (~exp(5));
    set begun = now;
    set way = 1;
    loop {
      run cpu (~exp(0.05));
      set way = ~uniform(0, 1);
      branch (way < 0.1) { observe response = now - begun; run terminal (~exp(5)); set begun = now; }
      else { branch (way < 0.6) { run fast (~exp(0.08)); } else { run slow (~exp(0.1)); } }
    }
  }
}
"""

CACHE = """
pool kv { cap 3; evict lru; }
stage svc : fifo;
stage think : delay;
workload { arrive closed(6); }
session {
  loop {
    set begun = now;
    hold kv (1) {
      branch (cached >= 1) { run svc (~exp(1)); } else { run svc (~exp(3)); }
    } cache (1);
    observe response = now - begun;
    run think (~exp(4));
  }
}
"""

MANY = """
pool live { cap 40; }
pool kv { cap 400; block 4; evict lru; }
stage engine : ps(1);
stage think : delay;
workload { arrive poisson(0.25); }
session {
  set more = 1;
  hold live (1) {
    loop {
      set begun = now;
      hold kv (14) { run engine (~exp(cached >= 14 ? 0.1 : 0.3)); } cache (14);
      observe response = now - begun;
      set more = ~bernoulli(0.9);
      branch (more) { run think (~exp(4)); } else { drop kv; end; }
    }
  }
}
"""

REPLICA = """
let block = 16;
pool kv {{ cap {blocks} * block; block block; evict lru; preempt lifo; }}
pool seats {{ cap {seats}; admit via engine; }}
stage engine : step {{
  budget 2048;
  cost 0.001 + 0.008 + 2e-8 * kv_decode + tokens * 2e-5;
  memory kv;
}}
stage tool : delay;
workload {{
  arrive poisson({rate});
  init {{ set known = 0; }}
  turn {{
    set fresh = known == 0 ? floor(~uniform(1000, 3000)) : floor(~exp(500)) + 1;
    set answer = floor(~exp(200)) + 1;
    set again = ~bernoulli(0.8);
  }}
}}
session {{
  turn;
  loop {{
    set begun = now;
    set prompt = known + fresh;
    set most = floor((prompt - 1) / block) * block;
    hold seats (1), kv (min(prompt, min(cachedin(kv), most) + budget_left(engine))) reuse (most) {{
      set found = min(cached, most);
      observe hit = found / prompt;
      run engine prefill (prompt - found) growing kv;
      observe first_token = now - begun;
      run engine decode (answer - 1) growing kv;
    }} cache (prompt + answer);
    observe response = now - begun;
    set known = prompt + answer;
    branch (again) {{ run tool (~exp(3)); turn; }} else {{ end; }}
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Model:
    """A model: its name, its text, and the numbers that the other contenders need. `kind` says which they can state.

    A model that never becomes stationary has a `horizon`, which all contenders simulate.
    """

    name: str
    kind: str
    numbers: tuple[float, ...]
    text: str
    horizon: float | None = None


def _closed(name: str, population: int, think: float) -> Model:
    return Model(name, "closed", (population, think), CLOSED.format(population=population, think=think))


def _replica(name: str, blocks: int, seats: int, rate: float, horizon: float | None = None) -> Model:
    text = REPLICA.format(blocks=blocks, seats=seats, rate=rate)
    return Model(name, "replica", (blocks, seats, rate), text, horizon)


MODELS = (
    _closed("M/M/1//8", 8, 4.0),
    _closed("M/M/1//200", 200, 4.0),
    _closed("M/M/1//200, 198 pending", 200, 400.0),
    Model("M/G/1-H2", "open", (0.8,), OPEN.format(kind="fifo")),
    Model("M/G/1-PS", "shared", (0.8,), OPEN.format(kind="ps(1)")),
    Model("central server", "central", (16,), CENTRAL),
    _replica("replica, light", 4000, 32, 0.25),
    _replica("replica, 42 residents", 60000, 128, 2.5),
    _replica("replica, pool-bound", 6000, 128, 1.0, 4000.0),
    Model("prefix cache of 3, 6 sessions", "cache", (), CACHE),
    Model("prefix cache in blocks, 40 places", "cache", (), MANY),
)
