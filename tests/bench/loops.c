/* What a careful programmer writes by hand for one queueing model: the yardstick of `bench.py`.

   One stream for everything (xoshiro256++), exponentials by a 256-layer ziggurat, pending jobs in a heap with four
   children to a node whose first entry is replaced in place; of the responses count, sum and sum of squares. Nothing is
   known of stages, nothing decides between events of one instant, nothing can go wrong.

   Every loop runs to a horizon and writes {events, responses, their sum, the sum of their squares} to `out`.
*/

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* -- random numbers -------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t a, b, c, d;
} Stream;

static inline uint64_t turned(uint64_t x, int by) { return x << by | x >> (64 - by); }

static inline uint64_t bits(Stream *s) {
    uint64_t result = turned(s->a + s->d, 23) + s->a, shifted = s->b << 17;
    s->c ^= s->a;
    s->d ^= s->b;
    s->b ^= s->c;
    s->a ^= s->d;
    s->c ^= shifted;
    s->d = turned(s->d, 45);
    return result;
}

static Stream begun(uint64_t seed) {
    uint64_t words[4];
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        words[i] = z ^ z >> 31;
    }
    return (Stream){words[0], words[1], words[2], words[3]};
}

static inline double uniform(Stream *s) { return (double)(bits(s) >> 11) * 0x1p-53; }

#define LAYERS 256
static double step[LAYERS + 1], end[LAYERS + 1], height[LAYERS + 1];

static void make_tables(void) {
    const double tail = 0x1.ec9d9297ebb83p+2, area = (tail + 1) * exp(-tail);
    end[0] = area / exp(-tail);
    end[1] = tail;
    for (int i = 2; i < LAYERS; i++)
        end[i] = -log(area / end[i - 1] + exp(-end[i - 1]));
    end[LAYERS] = 0;
    for (int i = 0; i <= LAYERS; i++) {
        step[i] = end[i] * 0x1p-53;
        height[i] = exp(-end[i]);
    }
}

static __attribute__((noinline)) double edge(Stream *s, int layer, double x) {
    for (double passed = 0;;) {
        if (layer == 0)
            passed += end[1];
        else if (height[layer] + uniform(s) * (height[layer + 1] - height[layer]) < exp(-x))
            return passed + x;
        uint64_t word = bits(s);
        layer = word & 255;
        x = (double)(word >> 11) * step[layer];
        if (x < end[layer + 1])
            return passed + x;
    }
}

static inline double exponential(Stream *s) {
    uint64_t word = bits(s);
    int layer = word & 255;
    double x = (double)(word >> 11) * step[layer];
    return __builtin_expect(x < end[layer + 1], 1) ? x : edge(s, layer, x);
}

/* Balanced hyperexponential of mean 1 and squared coefficient of variation 4. */
static inline double hyper(Stream *s) {
    const double p = 0.8872983346207417;
    double mean = uniform(s) < p ? 0.5 / p : 0.5 / (1 - p);
    return mean * exponential(s);
}

/* -- pending jobs ---------------------------------------------------------------------------------------------------- */

typedef struct {
    double time;
    union {
        long who;
        double since;
    };
} Entry;

typedef struct {
    Entry *at;
    long size;
} Heap;

static inline void rise(Heap *h, Entry e) {
    long i = h->size++;
    for (; i > 0; i = (i - 1) / 4) {
        Entry *above = &h->at[(i - 1) / 4];
        if (above->time <= e.time)
            break;
        h->at[i] = *above;
    }
    h->at[i] = e;
}

/* Put an entry where the first one was. */
static inline void sink(Heap *h, Entry e) {
    long i = 0;
    for (long child = 1; child < h->size; child = 4 * i + 1) {
        long last = child + 4 < h->size ? child + 4 : h->size, best = child;
        for (long j = child + 1; j < last; j++)
            if (h->at[j].time < h->at[best].time)
                best = j;
        if (h->at[best].time >= e.time)
            break;
        h->at[i] = h->at[best];
        i = best;
    }
    h->at[i] = e;
}

static inline void drop(Heap *h) {
    if (--h->size > 0)
        sink(h, h->at[h->size]);
}

static inline double first(const Heap *h) { return h->size ? h->at[0].time : INFINITY; }

/* -- responses ------------------------------------------------------------------------------------------------------- */

typedef struct {
    long events, count;
    double sum, square;
} Sums;

static inline void note(Sums *s, double response) {
    s->count++;
    s->sum += response;
    s->square += response * response;
}

static void tell(const Sums *s, double *out) {
    out[0] = (double)s->events;
    out[1] = (double)s->count;
    out[2] = s->sum;
    out[3] = s->square;
}

/* -- first come, first served, for at most `room` jobs --------------------------------------------------------------- */

typedef struct {
    long *who, room, head, size;
    double done, mean;
} Server;

static Server server(long room, double mean) { return (Server){malloc(room * sizeof(long)), room, 0, 0, INFINITY, mean}; }

static inline void join(Server *s, long who, double now, Stream *draws) {
    long at = s->head + s->size;
    s->who[at < s->room ? at : at - s->room] = who;
    if (s->size++ == 0)
        s->done = now + s->mean * exponential(draws);
}

static inline long leave(Server *s, double now, Stream *draws) {
    long who = s->who[s->head];
    s->head = s->head + 1 < s->room ? s->head + 1 : 0;
    s->done = --s->size ? now + s->mean * exponential(draws) : INFINITY;
    return who;
}

/* -- models ---------------------------------------------------------------------------------------------------------- */

/* M/M/1//n: think, then a service of mean 1. */
void mm1n(long n, double think, uint64_t seed, double horizon, double *out) {
    make_tables();
    Stream draws = begun(seed);
    Heap thinking = {malloc((n + 1) * sizeof(Entry)), 0};
    double *since = malloc(n * sizeof(double));
    Server one = server(n, 1.0);
    Sums sums = {0};
    int hole = 0;
    for (long i = 0; i < n; i++)
        rise(&thinking, (Entry){think * exponential(&draws), {i}});
    for (;;) {
        if (hole) {
            hole = 0;
            drop(&thinking);
        }
        double now = first(&thinking);
        if (now < one.done) {
            if (now > horizon)
                break;
            long who = thinking.at[0].who;
            since[who] = now;
            join(&one, who, now, &draws);
            hole = 1;
        } else {
            now = one.done;
            if (now > horizon)
                break;
            long who = leave(&one, now, &draws);
            note(&sums, now - since[who]);
            rise(&thinking, (Entry){now + think * exponential(&draws), {who}});
        }
        sums.events++;
    }
    tell(&sums, out);
    free(thinking.at), free(since), free(one.who);
}

/* M/G/1 with a hyperexponential service of mean 1; the queue is a ring that doubles. */
void mg1(double rate, uint64_t seed, double horizon, double *out) {
    make_tables();
    Stream draws = begun(seed);
    long room = 1024, head = 0, size = 0;
    double *since = malloc(room * sizeof(double)), arrival = 0.0, done = INFINITY;
    Sums sums = {0};
    for (;; sums.events++) {
        if (arrival < done) {
            double now = arrival;
            if (now > horizon)
                break;
            arrival = now + exponential(&draws) / rate;
            if (size == room) {
                double *more = malloc(2 * room * sizeof(double));
                for (long i = 0; i < size; i++)
                    more[i] = since[(head + i) & (room - 1)];
                free(since);
                since = more;
                head = 0;
                room *= 2;
            }
            since[(head + size) & (room - 1)] = now;
            if (size++ == 0)
                done = now + hyper(&draws);
        } else {
            double now = done;
            if (now > horizon)
                break;
            note(&sums, now - since[head]);
            head = (head + 1) & (room - 1);
            done = --size ? now + hyper(&draws) : INFINITY;
        }
    }
    tell(&sums, out);
    free(since);
}

/* The same, all jobs sharing the server: a heap of finish tags in attained service. */
void mg1ps(double rate, uint64_t seed, double horizon, double *out) {
    make_tables();
    Stream draws = begun(seed);
    long room = 1024;
    Heap jobs = {malloc(room * sizeof(Entry)), 0};
    double attained = 0.0, last = 0.0, arrival = 0.0, done = INFINITY;
    Sums sums = {0};
    for (;; sums.events++) {
        if (arrival < done) {
            double now = arrival;
            if (now > horizon)
                break;
            if (jobs.size)
                attained += (now - last) / jobs.size;
            last = now;
            arrival = now + exponential(&draws) / rate;
            if (jobs.size == room)
                jobs.at = realloc(jobs.at, (room *= 2) * sizeof(Entry));
            rise(&jobs, (Entry){attained + hyper(&draws), {.since = now}});
        } else {
            double now = done;
            if (now > horizon)
                break;
            attained = jobs.at[0].time;
            last = now;
            note(&sums, now - jobs.at[0].since);
            drop(&jobs);
        }
        done = jobs.size ? last + (jobs.at[0].time - attained) * jobs.size : INFINITY;
    }
    tell(&sums, out);
    free(jobs.at);
}

/* Terminals, a processor, two disks: n jobs, a visit to a disk after nine of ten services. */
void central(long n, uint64_t seed, double horizon, double *out) {
    make_tables();
    Stream draws = begun(seed);
    Heap thinking = {malloc((n + 1) * sizeof(Entry)), 0};
    double *since = malloc(n * sizeof(double));
    Server servers[3] = {server(n, 0.05), server(n, 0.08), server(n, 0.1)};
    Sums sums = {0};
    int hole = 0;
    for (long i = 0; i < n; i++)
        rise(&thinking, (Entry){5.0 * exponential(&draws), {i}});
    for (;; sums.events++) {
        if (hole) {
            hole = 0;
            drop(&thinking);
        }
        double now = first(&thinking);
        int which = -1;
        for (int k = 0; k < 3; k++)
            if (servers[k].done < now) {
                now = servers[k].done;
                which = k;
            }
        if (now > horizon)
            break;
        if (which < 0) {
            long who = thinking.at[0].who;
            since[who] = now;
            join(&servers[0], who, now, &draws);
            hole = 1;
            continue;
        }
        long who = leave(&servers[which], now, &draws);
        if (which > 0) {
            join(&servers[0], who, now, &draws);
            continue;
        }
        double u = uniform(&draws);
        if (u < 0.1) {
            note(&sums, now - since[who]);
            rise(&thinking, (Entry){now + 5.0 * exponential(&draws), {who}});
        } else
            join(&servers[u < 0.6 ? 1 : 2], who, now, &draws);
    }
    tell(&sums, out);
    free(thinking.at), free(since);
    for (int k = 0; k < 3; k++)
        free(servers[k].who);
}
