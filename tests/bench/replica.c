/* A replica of a language model's server, written by hand: iterations walk over all residents.

   Sessions arrive, send turns that prefill and decode in shared iterations, think between them and leave. Memory comes in
   blocks; what a session has computed stays cached until blocks are needed, the oldest first; when a resident cannot
   grow, the last one admitted is preempted.
*/

#include "common.h"
#include <string.h>

enum { BLOCK = 16, BUDGET = 2048, AWAY = 0, PREFILL = 1, DECODE = 2 };

typedef struct {
    long known, fresh, answer, prompt, position, left, phase, blocks, taken, again, entry, next;
    double begun;
} Session;

typedef struct {
    long blocks, owner, before, after;
} Cached;

typedef struct {
    Stream draws;
    Session *session;
    long room, vacant;
    Cached *entry;
    long spare, oldest, newest;
    long capacity, used, cached, seats;
    long *resident, residents;
    long first, last, waiting;
} Replica;

static void discard(Replica *r, long k) {
    Cached *e = &r->entry[k];
    *(e->before < 0 ? &r->oldest : &r->entry[e->before].after) = e->after;
    *(e->after < 0 ? &r->newest : &r->entry[e->after].before) = e->before;
    e->after = r->spare;
    r->spare = k;
}

static void evict(Replica *r) {
    while (r->used + r->cached > r->capacity) {
        Cached *e = &r->entry[r->oldest];
        long over = r->used + r->cached - r->capacity;
        if (e->blocks > over) {
            e->blocks -= over;
            r->cached -= over;
        } else {
            r->cached -= e->blocks;
            if (e->owner >= 0)
                r->session[e->owner].entry = -1;
            discard(r, r->oldest);
        }
    }
}

/* The hold ends: what was computed stays cached. */
static void release(Replica *r, long who) {
    Session *s = &r->session[who];
    long blocks = s->position / BLOCK;
    r->used -= s->blocks;
    s->blocks = 0;
    s->phase = AWAY;
    if (blocks == 0)
        return;
    long k = r->spare;
    r->spare = r->entry[k].after;
    r->entry[k] = (Cached){blocks, who, r->newest, -1};
    *(r->newest < 0 ? &r->oldest : &r->entry[r->newest].after) = k;
    r->newest = k;
    r->cached += blocks;
    s->entry = k;
}

static void wait_for(Replica *r, long who, int ahead) {
    Session *s = r->session;
    if (r->waiting++ == 0) {
        r->first = r->last = who;
        s[who].next = -1;
    } else if (ahead) {
        s[who].next = r->first;
        r->first = who;
    } else {
        s[r->last].next = who;
        s[who].next = -1;
        r->last = who;
    }
}

static void turn(Replica *r, Session *s, double now) {
    s->fresh = s->known == 0 ? 1000 + (long)(2000 * uniform(&r->draws)) : (long)(500 * exponential(&r->draws)) + 1;
    s->answer = (long)(200 * exponential(&r->draws)) + 1;
    s->again = uniform(&r->draws) < 0.8;
    s->begun = now;
    s->prompt = s->known + s->fresh;
}

static void arrive(Replica *r, double now) {
    if (r->vacant < 0) {
        long more = 2 * r->room;
        r->session = realloc(r->session, more * sizeof(Session));
        r->resident = realloc(r->resident, more * sizeof(long));
        for (long i = r->room; i < more; i++)
            r->session[i].next = i + 1 < more ? i + 1 : -1;
        r->vacant = r->room;
        r->room = more;
    }
    long who = r->vacant;
    Session *s = &r->session[who];
    r->vacant = s->next;
    s->known = s->blocks = s->taken = 0;
    s->phase = AWAY;
    s->entry = -1;
    turn(r, s, now);
    wait_for(r, who, 0);
}

/* More blocks for a resident, at the cost of those admitted after it; whether it is still there. */
static int grow(Replica *r, long who, long blocks, int *preempted) {
    while (r->used + blocks > r->capacity) {
        long victim = r->resident[--r->residents];
        *preempted = 1;
        r->session[victim].taken = 0;
        release(r, victim);
        wait_for(r, victim, 1);
        if (victim == who)
            return 0;
    }
    r->used += blocks;
    r->session[who].blocks += blocks;
    evict(r);
    return 1;
}

static long needed(const Session *s) { return (s->position + s->taken + BLOCK - 1) / BLOCK - s->blocks; }

static long part(const Session *s, long budget) { return s->phase == DECODE ? 1 : s->left < budget ? s->left : budget; }

/* Put an iteration together: how long it takes, or infinity where there is nothing to do. */
static double plan(Replica *r) {
    long budget = BUDGET, tokens = 0, attended = 0;
    int preempted = 0;
    for (long j = 0; j < r->residents; j++)
        if (r->session[r->resident[j]].phase == DECODE)
            attended += r->session[r->resident[j]].position;
    for (long j = 0; j < r->residents && budget > 0; j++) {
        long who = r->resident[j];
        Session *s = &r->session[who];
        s->taken = part(s, budget);
        long blocks = needed(s);
        if (blocks > 0 && !grow(r, who, blocks, &preempted))
            break;
        budget -= s->taken;
        tokens += s->taken;
    }
    while (!preempted && r->waiting && budget > 0 && r->residents < r->seats) {
        long who = r->first;
        Session *s = &r->session[who];
        long most = (s->prompt - 1) / BLOCK, found = s->entry >= 0 ? r->entry[s->entry].blocks : 0;
        if (found > most)
            found = most;
        long units = found * BLOCK + budget < s->prompt ? found * BLOCK + budget : s->prompt;
        long blocks = (units + BLOCK - 1) / BLOCK;
        if (r->used + blocks > r->capacity)
            break;
        r->first = s->next;
        r->waiting--;
        r->used += blocks;
        s->blocks = blocks;
        if (s->entry >= 0) {
            Cached *e = &r->entry[s->entry];
            r->cached -= found;
            e->blocks -= found;
            e->owner = -1;
            if (e->blocks == 0)
                discard(r, s->entry);
            s->entry = -1;
        }
        evict(r);
        s->position = found * BLOCK;
        s->left = s->prompt - s->position;
        s->phase = PREFILL;
        r->resident[r->residents++] = who;
        s->taken = part(s, budget);
        budget -= s->taken;
        tokens += s->taken;
    }
    return tokens || preempted ? 0.001 + 0.008 + 2e-8 * attended + tokens * 2e-5 : INFINITY;
}

void replica(long blocks, long seats, double rate, uint64_t seed, double horizon, double *out) {
    make_tables();
    Replica r = {.draws = begun(seed), .room = 64, .vacant = 0, .spare = 0, .oldest = -1, .newest = -1,
                 .capacity = blocks, .seats = seats};
    r.session = malloc(r.room * sizeof(Session));
    r.resident = malloc(r.room * sizeof(long));
    r.entry = malloc((blocks + 8) * sizeof(Cached));
    for (long i = 0; i < r.room; i++)
        r.session[i].next = i + 1 < r.room ? i + 1 : -1;
    for (long i = 0; i < blocks + 8; i++)
        r.entry[i].after = i + 1;
    long room = 1024;
    Heap away = {malloc(room * sizeof(Entry)), 0};
    double arrival = 0.0, end = INFINITY;
    Sums sums = {0};
    for (;; sums.events++) {
        double now = first(&away);
        int what = 1;
        if (arrival < now)
            now = arrival, what = 0;
        if (end < now)
            now = end, what = 2;
        if (now > horizon)
            break;
        if (what == 0) {
            arrival = now + exponential(&r.draws) / rate;
            arrive(&r, now);
        } else if (what == 1) {
            long who = away.at[0].who;
            drop(&away);
            turn(&r, &r.session[who], now);
            wait_for(&r, who, 0);
        } else {
            long kept = 0, were = r.residents;
            end = INFINITY;
            for (long j = 0; j < were; j++) {
                long who = r.resident[j];
                Session *s = &r.session[who];
                s->position += s->taken;
                s->left -= s->taken;
                s->taken = 0;
                if (s->left == 0 && s->phase == PREFILL && s->answer > 1) {
                    s->phase = DECODE;
                    s->left = s->answer - 1;
                }
                if (s->left > 0) {
                    r.resident[kept++] = who;
                    continue;
                }
                release(&r, who);
                note(&sums, now - s->begun);
                s->known = s->prompt + s->answer;
                if (s->again) {
                    if (away.size == room)
                        away.at = realloc(away.at, (room *= 2) * sizeof(Entry));
                    rise(&away, (Entry){now + 3.0 * exponential(&r.draws), {who}});
                } else {
                    if (s->entry >= 0)
                        r.entry[s->entry].owner = -1;
                    s->next = r.vacant;
                    r.vacant = who;
                }
            }
            r.residents = kept;
        }
        if (end == INFINITY && (r.residents || r.waiting)) {
            double length = plan(&r);
            end = now + length;
        }
    }
    tell(&sums, out);
    free(r.session), free(r.resident), free(r.entry), free(away.at);
}
