"""The memory of the compiled explorer, in restricted Python: tables of what one session can do, states, and arcs.

A session in a situation is a number, its *kind*: a record of `serq.semantics.records` without its ranks. A state is a
list of words, one per run of sessions of the same kind: first those that stand in no order, by kind, then list after
list the runs in their order. Lists are the waiting lines of fifo stages, the queues of pools, and the entries of pools
in the order of release. A session that stands in two lists has a word in each, tied by a link number.
"""

from serq.codegen.lang import I64Array, i64

# what a kind is
SERVED = 0
WAITING = 1
QUEUED = 2
READY = 3
DEAD = 4

# what becomes of a session's entry in a pool while it runs its commands
STAYS = 0
GOES = 1
RENEWED = 2
LEFT_BEHIND = 3
RENEWED_AND_LEFT = 4

# why a call returns
WORKING = 0
FINISHED = 1
RULE = 2
SPACE = 3
ROOM = 4
LIMIT = 5
ENDLESS = 6
CROWDED = 7

# the rules that a call may ask for, with two operands
RUN = 0
START = 1
ADMIT = 2
EVICT = 3
ARRIVE = 4
SPEED = 5
IMPULSES = 6
FACTORS = 7
PHASE = 8

UNKNOWN = -1
NOTHING = -2

# a word of a state: its kind, how many, link number, whether the same session had a word before, list + 1 (0: in none)
KIND_BITS = 20
COUNT_BITS = 24
LINK_BITS = 12
COUNT_AT = KIND_BITS
LINK_AT = KIND_BITS + COUNT_BITS
AGAIN_AT = LINK_AT + LINK_BITS
LIST_AT = AGAIN_AT + 1
MOST_KINDS = 1 << KIND_BITS
MOST_LINKS = (1 << LINK_BITS) - 1
MOST_LISTS = 62

# what tells the arcs of a state apart beside the target: symbol, impulse, factor
FACTOR_BITS = 24
IMPULSE_BITS = 20
IMPULSE_AT = FACTOR_BITS
SYMBOL_AT = FACTOR_BITS + IMPULSE_BITS

BEGINNING = -1
"""The source of the arcs to the initial states."""


class Frontier:
    """An exploration in progress. `(kind, pool)` stands for an array of `kind * pools + pool`."""

    pools: i64
    stages: i64
    lists: i64
    population: i64  # sessions of a closed population or a batch
    first_arrival: i64  # 1: an arrival at time 0
    arrival_symbol: i64  # of the arrivals that go on, -1: none
    arrival_limit: i64  # sessions present at which an arrival is lost, -1: none
    lost: i64  # what a lost arrival earns
    crowd: i64  # sessions present that are taken for endless growth
    most: i64  # states

    # the stages and pools
    servers: I64Array  # per stage, 0: everybody is served
    line: I64Array  # per stage, its list, -1: none
    caps: I64Array  # per pool
    pins: I64Array  # per pool, 1: entries of those who wait cannot be evicted
    evicts_by: I64Array  # per pool, 1: by keys
    queues_by: I64Array  # per pool, 1: by keys

    # per kind
    what: I64Array
    where: I64Array  # stage, or pool
    symbol: I64Array  # rate, of those in service
    next_phase: I64Array  # the kind that follows, -2: the work is done, -1: not known yet
    run_rule: I64Array  # completion and what follows, or the commands of a session that is ready
    start_rule: I64Array  # the phases in which service begins
    admitted: I64Array  # the kind after an admission
    admitted_earns: I64Array
    queue_key: I64Array
    held: I64Array  # (kind, pool): units allocated
    entry: I64Array  # (kind, pool): units cached
    ranked: I64Array  # (kind, pool): 1: its entry stands in the order of release
    part: I64Array  # (kind, pool): 1: its hold asks for the pool
    need: I64Array  # (kind, pool): what must fit
    take: I64Array  # (kind, pool): what an admission allocates
    evicted: I64Array  # (kind, pool): the kind after an eviction, -1: not known yet
    evicted_earns: I64Array  # (kind, pool)
    evict_key: I64Array  # (kind, pool)

    # rules: a rule is a range of ways
    rule_begin: I64Array
    rule_end: I64Array
    way_factor: I64Array
    way_earns: I64Array
    way_next: I64Array  # kind, -2: the session has ended
    way_spawns: I64Array  # kind of the session that takes its place, -2: none
    way_held: I64Array  # (way, pool): change of the units allocated
    way_entry: I64Array  # (way, pool): what becomes of the entry
    way_dead: I64Array  # (way, pool): the kind of an entry left behind

    speeds: I64Array  # per stage and number present: factor, -1: not known yet, -2: no service
    arrival_rule: i64

    # pairs of impulses and of factors, added and multiplied
    pair_key: I64Array
    pair_value: I64Array
    pair_mask: i64

    # the configuration at work
    room: i64  # places in every list, and nodes
    loose: i64  # number of entries of the two arrays that follow
    loose_kind: I64Array
    loose_count: I64Array
    node_kind: I64Array
    node_count: I64Array
    node_in: I64Array  # in how many lists
    node_link: I64Array
    nodes: i64
    free_nodes: i64
    free_node: I64Array
    item: I64Array  # (list, place): node
    size: I64Array  # per list
    used: I64Array  # per pool
    cached: I64Array
    pinned: I64Array  # cached units of those who wait
    serving: I64Array  # per stage
    present: i64
    ready: I64Array
    ready_first: i64
    ready_end: i64
    links: i64
    node_of_link: I64Array

    # the event at work
    status: i64
    asked: i64
    asked_a: i64
    asked_b: i64
    factor: i64
    earned: i64
    steps: i64
    lazy: i64  # 1: the place of the session in its run has not mattered so far
    lazy_node: i64
    lazy_list: i64
    depends: i64
    script: I64Array
    script_ways: I64Array
    script_at: i64
    script_end: i64
    script_room: i64

    # states
    words: I64Array
    words_end: i64
    words_room: i64
    begin: I64Array  # per state, and one more
    found: i64
    states_room: i64
    done: i64
    table: I64Array
    table_mask: i64
    packed: I64Array  # a state being put together
    packed_end: i64

    # arcs
    arcs: i64
    arcs_room: i64
    arc_target: I64Array
    arc_tells: I64Array
    arc_count: I64Array
    arc_source: I64Array
    event_arcs: i64
    event_target: I64Array
    event_tells: I64Array
    event_room: i64
    split: i64  # arcs that differ in their factor only
