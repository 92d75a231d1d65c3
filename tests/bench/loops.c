/* What a careful programmer writes by hand for one queueing model: the yardstick of `bench.py`.

   One stream for everything (xoshiro256++), exponentials by a 256-layer ziggurat, pending jobs in a heap with four
   children to a node whose first entry is replaced in place; of the responses count, sum and sum of squares. Nothing is
   known of stages, nothing decides between events of one instant, nothing can go wrong.

   Every loop runs to a horizon and writes {events, responses, their sum, the sum of their squares} to `out`.
*/

#include "common.h"

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
