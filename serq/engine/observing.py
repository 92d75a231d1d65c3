"""Counting in restricted Python: integrals over time, observations, and the rows of sums that batches end with.

Additions are made in the order of the reference, so that sums are the same to the bit. What the values of an observe
look like is kept in constant memory: their moments (B. P. Welford, Technometrics 4 (1962)) and how many fall into each
of the buckets that share an exponent and the ten leading bits of the fraction, so that quantiles are right to 0.05 %.
"""

from serq.codegen.lang import bits_of, cold, f64, fabs, i64
from serq.engine.state import INF, SESSION_SUMS, STAGE_SUMS, Sim

EXPONENTS = 160
"""Powers of two that have buckets of their own, from 2^-SMALLEST on; what lies beyond joins the nearest."""
SMALLEST = 64
PARTS = 1024
SIDE = EXPONENTS * PARTS
BUCKETS = 2 * SIDE + 1
"""Negative values first, the largest of them last; then zero; then positive values."""
LOWEST = (1023 - SMALLEST) * PARTS
GROUP = 32
"""Neighbouring buckets that a profile counts as one: 32 groups for a power of two."""
GROUPS = BUCKETS // GROUP + 1


def advance_number(s: Sim, stage: i64, now: f64) -> None:
    """Integrate what is at a stage up to now, but for the busy ones of several servers."""
    number = s.number[stage]
    if number != 0:
        passed = now - s.last[stage]
        s.sum_number[stage] += number * passed
        s.sum_nonempty[stage] += passed
    s.last[stage] = now


def advance_busy(s: Sim, stage: i64, now: f64) -> None:
    """Integrate the busy ones of several servers up to now, before all else is."""
    s.sum_busy[stage] += min(s.number[stage], s.servers[stage]) * (now - s.last[stage])


def advance_sessions(s: Sim, now: f64) -> None:
    """Integrate the number of sessions up to now."""
    s.sessions_area += s.live * (now - s.sessions_last)
    s.sessions_last = now


def advance_gauge(s: Sim, gauge: i64, now: f64) -> None:
    """Integrate a gauge up to now; it runs along a straight line."""
    passed = now - s.gauge_last[gauge]
    slope = s.gauge_slope[gauge]
    s.gauge_area[gauge] += passed * (s.gauge_value[gauge] + 0.5 * slope * passed)
    s.gauge_value[gauge] += slope * passed
    s.gauge_last[gauge] = now


def read_gauge(s: Sim, gauge: i64, value: f64) -> None:
    """The value of a gauge after an event."""
    if s.now != s.gauge_last[gauge]:
        advance_gauge(s, gauge, s.now)
    s.gauge_value[gauge] = value
    s.gauge_slope[gauge] = 0.0


def reach_gauge(s: Sim, gauge: i64, value: f64) -> None:
    """The value just before an event: the line leads there from the last value."""
    if s.now != s.gauge_last[gauge]:
        s.gauge_slope[gauge] = (value - s.gauge_value[gauge]) / (s.now - s.gauge_last[gauge])


def bucket_of(x: f64) -> i64:
    """The bucket of a value that is not NaN."""
    if x == 0.0:
        return SIDE
    place = int(bits_of(fabs(x)) >> 42) - LOWEST
    place = min(max(place, 0), SIDE - 1)
    return SIDE + 1 + place if x > 0.0 else SIDE - 1 - place


def observe_sketch(s: Sim, name: i64, value: f64) -> None:
    """An observation, of which its part in sums, moments and buckets is kept."""
    s.batch_sum[name] += value
    s.batch_count[name] += 1
    place = int(bits_of(value) >> 42) - LOWEST  # of a negative value or NaN it is too large
    if place < 0 or place >= SIDE:
        observe_odd(s, name, value)
        return
    note_moments(s, name, value)
    s.buckets[name * BUCKETS + SIDE + 1 + place] += 1


@cold
def observe_odd(s: Sim, name: i64, value: f64) -> None:
    """What `observe_sketch` does with zero, with negative or extreme values, and with NaN."""
    if value != value:
        s.undefined[name] += 1
        return
    note_moments(s, name, value)
    s.buckets[name * BUCKETS + bucket_of(value)] += 1


def note_moments(s: Sim, name: i64, value: f64) -> None:
    """An observation that is a number goes into the moments, and may be an end."""
    n = s.seen[name] + 1
    s.seen[name] = n
    off = value - s.mean[name]
    mean = s.mean[name] + off / float(n)
    s.mean[name] = mean
    s.square[name] += off * (value - mean)
    if value < s.least[name]:
        s.least[name] = value
    if value > s.most[name]:
        s.most[name] = value


def observe_log(s: Sim, name: i64, value: f64, serial: i64, turn: i64) -> None:
    """An observation, of which everything is kept."""
    s.batch_sum[name] += value
    s.batch_count[name] += 1
    at = s.log_size
    if at == s.log_cap:
        s.log_full = 1
        return
    s.log_name[at] = name
    s.log_value[at] = value
    s.log_time[at] = s.now
    s.log_serial[at] = serial
    s.log_turn[at] = turn
    s.log_size = at + 1


@cold
def close_batches(s: Sim, now: f64) -> None:
    """Time passes to now: end the warm-up and the batches that end by then, the last one apart."""
    while now >= s.next_end and s.closed < s.last_end:
        close_batch(s)


@cold
def close_all(s: Sim) -> None:
    """The run is over."""
    while s.closed <= s.last_end:
        close_batch(s)


@cold
def close_batch(s: Sim) -> None:
    """A batch ends, or the warm-up, whose sums are dropped."""
    end = s.next_end
    for stage in range(s.stages):
        if s.servers[stage] > 1:
            advance_busy(s, stage, end)
        advance_number(s, stage, end)
    for gauge in range(s.gauges):
        advance_gauge(s, gauge, end)
    advance_sessions(s, end)
    if s.closed == 0:
        forget(s)
    else:
        keep_row(s, s.closed - 1)
    start_anew(s)
    s.closed += 1
    if s.closed <= s.last_end:
        s.next_end = s.ends[s.closed]


@cold
def keep_row(s: Sim, row: i64) -> None:
    """Write the sums of a batch into its row."""
    at = row * (STAGE_SUMS * s.stages + s.gauges + SESSION_SUMS + 2 * s.observes)
    for i in range(s.stages):
        s.rows[at] = s.sum_number[i]
        s.rows[at + 1] = s.sum_nonempty[i] if s.servers[i] == 1 else s.sum_busy[i]
        s.rows[at + 2] = s.sum_nonempty[i]
        s.rows[at + 3] = s.sum_wait[i]
        s.rows[at + 4] = s.sum_sojourn[i]
        s.rows[at + 5] = s.sum_service[i]
        s.rows[at + 6] = float(s.completed[i])
        s.rows[at + 7] = float(s.iterations[i])
        at += STAGE_SUMS
    for i in range(s.gauges):
        s.rows[at] = s.gauge_area[i]
        at += 1
    s.rows[at] = s.sessions_area
    s.rows[at + 1] = float(s.arrived)
    s.rows[at + 2] = float(s.ended)
    s.rows[at + 3] = float(s.lost)
    s.rows[at + 4] = float(s.turns)
    at += SESSION_SUMS
    for i in range(s.observes):
        s.rows[at] = s.batch_sum[i]
        s.rows[at + 1] = float(s.batch_count[i])
        at += 2
    if s.profiled == 1:
        for i in range(s.observes):
            keep_profile(s, i, (row * s.observes + i) * GROUPS)


@cold
def keep_profile(s: Sim, name: i64, at: i64) -> None:
    """Write how many observations of the window lie in each group of buckets by now."""
    if s.seen[name] == 0:
        return
    last = (name + 1) * BUCKETS
    for group in range(bucket_of(s.least[name]) // GROUP, bucket_of(s.most[name]) // GROUP + 1):
        first = name * BUCKETS + group * GROUP
        total = 0
        for j in range(first, min(first + GROUP, last)):
            total += s.buckets[j]
        s.profile[at + group] = total


@cold
def start_anew(s: Sim) -> None:
    """The sums of the next batch begin."""
    for i in range(s.stages):
        s.sum_number[i] = 0.0
        s.sum_busy[i] = 0.0
        s.sum_nonempty[i] = 0.0
        s.sum_wait[i] = 0.0
        s.sum_sojourn[i] = 0.0
        s.sum_service[i] = 0.0
        s.completed[i] = 0
        s.iterations[i] = 0
    for i in range(s.gauges):
        s.gauge_area[i] = 0.0
    s.sessions_area = 0.0
    s.arrived = 0
    s.ended = 0
    s.lost = 0
    s.turns = 0
    for i in range(s.observes):
        s.batch_sum[i] = 0.0
        s.batch_count[i] = 0


@cold
def forget(s: Sim) -> None:
    """The window begins: what was observed before does not count."""
    s.log_size = 0
    for i in range(s.observes):
        s.seen[i] = 0
        s.undefined[i] = 0
        s.mean[i] = 0.0
        s.square[i] = 0.0
        s.least[i] = INF
        s.most[i] = -INF
        if s.log_cap == 0:
            for j in range(i * BUCKETS, (i + 1) * BUCKETS):
                s.buckets[j] = 0
