/* What the loops written by hand share: one stream, a heap of pending jobs, sums of responses. */

#pragma once

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
