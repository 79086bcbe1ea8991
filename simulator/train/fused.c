/* The steps of a Llama between its matrix products, forwards and backwards, for one CPU core.

   PyTorch takes a pass over memory for each of some thirty small steps a layer, and its attention
   is made for long texts. Here a step is one pass, and attention keeps one head of one text in the
   first-level cache. `fused.py` compiles this file twice: matrices are stored as bf16 with -DBF16,
   else as f32. Sums are f32. Widths are multiples of 16, head widths of 32. Vectors are GCC's, so
   any processor will do. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "attention.h"

#define LANES 16
#define ROWS 4 /* queries that share what is loaded of keys and values */

typedef float floats __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(64)));
typedef uint32_t words __attribute__((vector_size(64)));
typedef uint16_t halves __attribute__((vector_size(32), aligned(2), may_alias));

#ifdef BF16
static inline floats get(const stored *from) {
    return (floats)(__builtin_convertvector(*(const halves *)from, words) << 16);
}

static inline void put(stored *to, floats value) {
#ifdef __AVX512BF16__
    *(halves *)to = (halves)_mm512_cvtneps_pbh((__m512)value);
#else
    words bits = (words)value;
    /* To the nearest, ties to even. */
    bits += 0x7fff + ((bits >> 16) & 1);
    *(halves *)to = __builtin_convertvector(bits >> 16, halves);
#endif
}

static inline float get_one(const stored *from) {
    uint32_t bits = (uint32_t)*from << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline void put_one(stored *to, float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    *to = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}
#else
static inline floats get(const stored *from) { return *(const floats *)from; }
static inline void put(stored *to, floats value) { *(floats *)to = value; }
static inline float get_one(const stored *from) { return *from; }
static inline void put_one(stored *to, float value) { *to = value; }
#endif

static inline floats at(const float *from) { return *(const floats *)from; }
static inline void set(float *to, floats value) { *(floats *)to = value; }
static inline floats all(float value) { return value - (floats){0}; }

static inline floats larger(floats a, floats b) {
    ints first = a > b;
    return (floats)(((ints)a & first) | ((ints)b & ~first));
}

/* The lanes, each `step` places further. */
#define TURNED(value, step)                                                                        \
    __builtin_shuffle(value, (ints){0 ^ step, 1 ^ step, 2 ^ step, 3 ^ step, 4 ^ step, 5 ^ step,    \
                                    6 ^ step, 7 ^ step, 8 ^ step, 9 ^ step, 10 ^ step, 11 ^ step,  \
                                    12 ^ step, 13 ^ step, 14 ^ step, 15 ^ step})

static inline float sum(floats value) {
    value += TURNED(value, 8);
    value += TURNED(value, 4);
    value += TURNED(value, 2);
    value += TURNED(value, 1);
    return value[0];
}

static inline float largest(floats value) {
    value = larger(value, TURNED(value, 8));
    value = larger(value, TURNED(value, 4));
    value = larger(value, TURNED(value, 2));
    value = larger(value, TURNED(value, 1));
    return value[0];
}

/* The lanes whose place, counted from `first`, is below `end`; the others are `rest`. */
static inline floats below(floats value, long first, long end, float rest) {
    const ints lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    ints inside = lanes < (int)(end - first);
    return (floats)(((ints)value & inside) | ((ints)all(rest) & ~inside));
}

#ifdef __AVX512F__
/* e^x, for finite x, to about 5e-6 of its value. */
static inline floats exponential(floats x) {
    floats power = x * 1.44269504f;
    floats whole = (floats)_mm512_roundscale_ps((__m512)power, 0);
    floats rest = power - whole;
    floats p = rest * 1.3333558e-3f + 9.6181291e-3f;
    p = p * rest + 5.5504109e-2f;
    p = p * rest + 2.4022651e-1f;
    p = p * rest + 6.9314718e-1f;
    p = p * rest + 1.0f;
    return (floats)_mm512_scalef_ps((__m512)p, (__m512)whole);
}

static inline floats inverse(floats x) {
    floats near = (floats)_mm512_rcp14_ps((__m512)x);
    return near * (2.0f - x * near);
}
#else
/* e^x by 2^n times a polynomial; x is at most 88, below -87 it gives about 0. */
static inline floats exponential(floats x) {
    x = larger(x, all(-87.0f));
    const float shift = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    floats n = (x * 1.44269504f + shift) - shift;
    floats r = x - n * 0.693359375f + n * 2.12194440e-4f;
    floats p = all(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    ints power = (__builtin_convertvector(n, ints) + 127) << 23;
    return p * (floats)power;
}

static inline floats inverse(floats x) { return 1.0f / x; }
#endif

static inline floats sigmoid(floats x) {
    /* Below, e^-x would be infinite. */
    return inverse(1.0f + exponential(-larger(x, all(-80.0f))));
}

/* stream + delta (if there is one) and its norm. `scale` keeps 1 / root mean square of each row. */
void add_norm(long rows, long width, const float *stream, const stored *delta, const float *gain,
              float epsilon, float *sum_out, stored *normed, float *scale) {
    for (long row = 0; row < rows; row++) {
        const float *in = stream + row * width;
        const float *value = in;
        floats squares = {0};
        if (delta) {
            float *out = sum_out + row * width;
            for (long i = 0; i < width; i += LANES) {
                floats x = at(in + i) + get(delta + row * width + i);
                set(out + i, x);
                squares += x * x;
            }
            value = out;
        } else {
            for (long i = 0; i < width; i += LANES) squares += at(in + i) * at(in + i);
        }
        float factor = 1.0f / sqrtf(sum(squares) / width + epsilon);
        scale[row] = factor;
        for (long i = 0; i < width; i += LANES)
            put(normed + row * width + i, at(value + i) * factor * at(gain + i));
    }
}

/* Gradients of add_norm. `d_sum` may be missing; `d_delta` is wanted or missing; `d_gain` is added
   to. */
void add_norm_back(long rows, long width, const float *value, const float *gain, const float *scale,
                   const float *d_sum, const stored *d_normed, float *d_stream, stored *d_delta,
                   float *d_gain) {
    for (long row = 0; row < rows; row++) {
        const float *x = value + row * width;
        const stored *d = d_normed + row * width;
        float factor = scale[row];
        floats dots = {0};
        for (long i = 0; i < width; i += LANES) {
            floats product = at(x + i) * get(d + i);
            set(d_gain + i, at(d_gain + i) + product * factor);
            dots += product * at(gain + i);
        }
        float pull = sum(dots) * factor * factor * factor / width;
        for (long i = 0; i < width; i += LANES) {
            floats own = get(d + i) * at(gain + i) * factor - at(x + i) * pull;
            if (d_sum) own += at(d_sum + row * width + i);
            set(d_stream + row * width + i, own);
            if (d_delta) put(d_delta + row * width + i, own);
        }
    }
}

/* silu(gate) * up, for rows that hold the gate and then as much of up. `stride` is from row to
   row. */
void swiglu(long rows, long width, const stored *joined, long stride, stored *out) {
    for (long row = 0; row < rows; row++) {
        const stored *gate = joined + row * stride, *up = gate + width;
        for (long i = 0; i < width; i += LANES) {
            floats g = get(gate + i);
            put(out + row * width + i, g * sigmoid(g) * get(up + i));
        }
    }
}

/* Gradients of swiglu, and once more its result unless `out` is missing. */
void swiglu_back(long rows, long width, const stored *joined, long stride, const stored *d_out,
                 stored *d_joined, stored *out) {
    for (long row = 0; row < rows; row++) {
        const stored *gate = joined + row * stride, *up = gate + width;
        stored *d_gate = d_joined + row * stride, *d_up = d_gate + width;
        for (long i = 0; i < width; i += LANES) {
            floats g = get(gate + i), u = get(up + i), d = get(d_out + row * width + i);
            floats open = sigmoid(g), value = g * open;
            put(d_up + i, d * value);
            put(d_gate + i, d * u * (open + value - value * open));
            if (out) put(out + row * width + i, value * u);
        }
    }
}

/* Log loss of `targets` (negative: none) under `logits`, which become its gradient times
   `factor`. */
double cross_entropy(long rows, long vocabulary, stored *logits, const int64_t *targets,
                     float factor, float *room) {
    double total = 0;
    long whole = vocabulary / LANES * LANES;
    for (long row = 0; row < rows; row++) {
        stored *own = logits + row * vocabulary;
        if (targets[row] < 0) {
            memset(own, 0, vocabulary * sizeof(stored));
            continue;
        }
        floats tops = all(-INFINITY);
        for (long i = 0; i < whole; i += LANES) {
            floats x = get(own + i);
            set(room + i, x);
            tops = larger(x, tops);
        }
        float top = largest(tops);
        for (long i = whole; i < vocabulary; i++) {
            room[i] = get_one(own + i);
            if (room[i] > top) top = room[i];
        }
        float target = room[targets[row]];
        floats sums = {0};
        for (long i = 0; i < whole; i += LANES) {
            floats e = exponential(at(room + i) - top);
            set(room + i, e);
            sums += e;
        }
        float mass = sum(sums);
        for (long i = whole; i < vocabulary; i++) mass += room[i] = expf(room[i] - top);
        total += logf(mass) + top - target;
        room[targets[row]] -= mass;
        float share = factor / mass;
        for (long i = 0; i < whole; i += LANES) put(own + i, at(room + i) * share);
        for (long i = whole; i < vocabulary; i++) put_one(own + i, room[i] * share);
    }
    return total;
}

static void rotate_in(const struct attention *a, const stored *from, long place, float *to) {
    long half = a->width / 2;
    const float *cosine = a->cosine + place * half, *sine = a->sine + place * half;
    for (long i = 0; i < half; i += LANES) {
        floats x = get(from + i), y = get(from + half + i);
        set(to + i, x * at(cosine + i) - y * at(sine + i));
        set(to + half + i, y * at(cosine + i) + x * at(sine + i));
    }
}

static void rotate_out(const struct attention *a, const float *from, long place, stored *to) {
    long half = a->width / 2;
    const float *cosine = a->cosine + place * half, *sine = a->sine + place * half;
    for (long i = 0; i < half; i += LANES) {
        floats x = at(from + i), y = at(from + half + i);
        put(to + i, x * at(cosine + i) + y * at(sine + i));
        put(to + half + i, y * at(cosine + i) - x * at(sine + i));
    }
}

static long place_of(const struct attention *a, long text, long query) {
    return a->places ? a->places[text * a->queries + query] : query;
}

#define LOW(l, step) ((l) & (step) ? LANES + (l) - (step) : (l))
#define HIGH(l, step) ((l) & (step) ? LANES + (l) : (l) + (step))
#define LANES_OF(one, step)                                                                        \
    (ints){one(0, step),  one(1, step),  one(2, step),  one(3, step),  one(4, step),               \
           one(5, step),  one(6, step),  one(7, step),  one(8, step),  one(9, step),               \
           one(10, step), one(11, step), one(12, step), one(13, step), one(14, step),              \
           one(15, step)}
#define EXCHANGE(lines, step)                                                                      \
    for (int line = 0; line < LANES; line++)                                                       \
        if (!(line & step)) {                                                                      \
            floats one = lines[line], two = lines[line | step];                                    \
            lines[line] = __builtin_shuffle(one, two, LANES_OF(LOW, step));                        \
            lines[line | step] = __builtin_shuffle(one, two, LANES_OF(HIGH, step));                \
        }

/* The columns of (length, width) as the rows of (width, padded), both multiples of LANES; rows of
   `from` behind its length are there. */
static void turn(const float *from, long width, long padded, float *to) {
    for (long j = 0; j < padded; j += LANES)
        for (long i = 0; i < width; i += LANES) {
            floats lines[LANES];
            for (int line = 0; line < LANES; line++)
                lines[line] = at(from + (j + line) * width + i);
            EXCHANGE(lines, 8)
            EXCHANGE(lines, 4)
            EXCHANGE(lines, 2)
            EXCHANGE(lines, 1)
            for (int line = 0; line < LANES; line++) set(to + (i + line) * padded + j, lines[line]);
        }
}

/* products[r][j] = rows[r] . columns[.][j] for j below `end`, a multiple of LANES. */
static void products(const float *rows, const float *columns, long width, long padded, long end,
                     float *out) {
    long j = 0;
    for (; j + 2 * LANES <= end; j += 2 * LANES) {
        floats first[ROWS] = {0}, second[ROWS] = {0};
        for (long i = 0; i < width; i++) {
            floats one = at(columns + i * padded + j), two = at(columns + i * padded + j + LANES);
            for (int r = 0; r < ROWS; r++) {
                first[r] += rows[r * width + i] * one;
                second[r] += rows[r * width + i] * two;
            }
        }
        for (int r = 0; r < ROWS; r++) {
            set(out + r * padded + j, first[r]);
            set(out + r * padded + j + LANES, second[r]);
        }
    }
    for (; j < end; j += LANES) {
        floats total[ROWS] = {0};
        for (long i = 0; i < width; i++) {
            floats one = at(columns + i * padded + j);
            for (int r = 0; r < ROWS; r++) total[r] += rows[r * width + i] * one;
        }
        for (int r = 0; r < ROWS; r++) set(out + r * padded + j, total[r]);
    }
}

/* out[r] = sum over j below `end` of weights[r][j] * rows[j] */
static void mixtures(const float *weights, const float *rows, long width, long padded, long end,
                     float *out) {
    for (long i = 0; i < width; i += 2 * LANES) {
        floats first[ROWS] = {0}, second[ROWS] = {0};
        for (long j = 0; j < end; j++) {
            floats one = at(rows + j * width + i), two = at(rows + j * width + i + LANES);
            for (int r = 0; r < ROWS; r++) {
                first[r] += weights[r * padded + j] * one;
                second[r] += weights[r * padded + j] * two;
            }
        }
        for (int r = 0; r < ROWS; r++) {
            set(out + r * width + i, first[r]);
            set(out + r * width + i + LANES, second[r]);
        }
    }
}

/* into[j] += sum over r of weights[r][j] * rows[r], for j below `end` */
static void spread(const float *weights, const float *rows, long width, long padded, long end,
                   float *into) {
    for (long i = 0; i < width; i += 2 * LANES) {
        floats first[ROWS], second[ROWS];
        for (int r = 0; r < ROWS; r++) {
            first[r] = at(rows + r * width + i);
            second[r] = at(rows + r * width + i + LANES);
        }
        for (long j = 0; j < end; j++) {
            float *to = into + j * width + i;
            floats one = at(to), two = at(to + LANES);
            for (int r = 0; r < ROWS; r++) {
                one += weights[r * padded + j] * first[r];
                two += weights[r * padded + j] * second[r];
            }
            set(to, one);
            set(to + LANES, two);
        }
    }
}

/* Room for one head of one text. */
struct room {
    long padded;
    float *keys, *values, *key_columns, *value_columns, *d_keys, *d_values;
    float *query, *d_out, *out, *scores, *d_scores, *whole;
};

static struct room make_room(const struct attention *a) {
    struct room room;
    room.padded = (a->length + LANES - 1) / LANES * LANES;
    long all_keys = room.padded * a->width, few = ROWS * a->width, weights = ROWS * room.padded;
    long bytes = (6 * all_keys + 3 * few + 2 * weights) * sizeof(float);
    room.whole = aligned_alloc(64, (bytes + 63) / 64 * 64);
    /* Places behind the last key are read, with weight nothing: they must be numbers. */
    memset(room.whole, 0, bytes);
    float *next = room.whole;
    float **large[] = {&room.keys,          &room.values, &room.key_columns,
                       &room.value_columns, &room.d_keys, &room.d_values};
    for (int i = 0; i < 6; i++, next += all_keys) *large[i] = next;
    float **small[] = {&room.query, &room.d_out, &room.out};
    for (int i = 0; i < 3; i++, next += few) *small[i] = next;
    room.scores = next;
    room.d_scores = next + weights;
    return room;
}

static void load_keys(const struct attention *a, const struct room *room, long text, long head) {
    for (long j = 0; j < a->length; j++) {
        long from = (text * a->length + j) * a->key_stride + head * a->width;
        rotate_in(a, a->keys + from, j, room->keys + j * a->width);
        for (long i = 0; i < a->width; i += LANES)
            set(room->values + j * a->width + i, get(a->values + from + i));
    }
    turn(room->keys, a->width, room->padded, room->key_columns);
}

/* Loads up to ROWS queries from `first` on, and gives how many keys they see at most, in whole
   vectors. Rows that are not there see nothing. */
static long load_queries(const struct attention *a, const struct room *room, long text, long head,
                         long first, long seen[ROWS]) {
    long most = 0;
    for (long r = 0; r < ROWS; r++) {
        seen[r] = 0;
        if (first + r >= a->queries) {
            memset(room->query + r * a->width, 0, a->width * sizeof(float));
            continue;
        }
        long place = place_of(a, text, first + r);
        seen[r] = place + 1;
        if (seen[r] > most) most = seen[r];
        long from = (text * a->queries + first + r) * a->query_stride + head * a->width;
        rotate_in(a, a->query + from, place, room->query + r * a->width);
    }
    return (most + LANES - 1) / LANES * LANES;
}

void attend(const struct attention *a, stored *out) {
    struct room room = make_room(a);
    long group = a->heads / a->key_heads, padded = room.padded;
    float scale = 1.0f / sqrtf(a->width);
    for (long text = 0; text < a->texts; text++)
        for (long head = 0; head < a->heads; head++) {
            if (head % group == 0) load_keys(a, &room, text, head / group);
            for (long first = 0; first < a->queries; first += ROWS) {
                long seen[ROWS];
                long end = load_queries(a, &room, text, head, first, seen);
                products(room.query, room.key_columns, a->width, padded, end, room.scores);
                for (long r = 0; r < ROWS && first + r < a->queries; r++) {
                    float *own = room.scores + r * padded;
                    floats tops = all(-INFINITY);
                    for (long j = 0; j < end; j += LANES)
                        tops = larger(below(at(own + j), j, seen[r], -INFINITY), tops);
                    float top = largest(tops);
                    floats sums = {0};
                    for (long j = 0; j < end; j += LANES) {
                        floats e = exponential((at(own + j) - top) * scale);
                        e = below(e, j, seen[r], 0);
                        set(own + j, e);
                        sums += e;
                    }
                    float mass = sum(sums), share = 1.0f / mass;
                    for (long j = 0; j < end; j += LANES) set(own + j, at(own + j) * share);
                    a->weight_logs[(text * a->heads + head) * a->queries + first + r] =
                        top * scale + logf(mass);
                }
                mixtures(room.scores, room.values, a->width, padded, end, room.out);
                for (long r = 0; r < ROWS && first + r < a->queries; r++) {
                    long to = ((text * a->queries + first + r) * a->heads + head) * a->width;
                    for (long i = 0; i < a->width; i += LANES)
                        put(out + to + i, at(room.out + r * a->width + i));
                }
            }
        }
    free(room.whole);
}

/* Gradients of attend; those of query, keys and values have the strides of these. */
void attend_back(const struct attention *a, const stored *d_out, stored *d_query, stored *d_keys,
                 stored *d_values) {
    struct room room = make_room(a);
    long group = a->heads / a->key_heads, padded = room.padded, width = a->width;
    float scale = 1.0f / sqrtf(width);
    for (long text = 0; text < a->texts; text++)
        for (long head = 0; head < a->heads; head++) {
            if (head % group == 0) {
                load_keys(a, &room, text, head / group);
                turn(room.values, width, padded, room.value_columns);
                memset(room.d_keys, 0, padded * width * sizeof(float));
                memset(room.d_values, 0, padded * width * sizeof(float));
            }
            for (long first = 0; first < a->queries; first += ROWS) {
                long seen[ROWS];
                long end = load_queries(a, &room, text, head, first, seen);
                if (first + ROWS > a->queries)
                    memset(room.d_out, 0, ROWS * width * sizeof(float));
                for (long r = 0; r < ROWS && first + r < a->queries; r++) {
                    long from = ((text * a->queries + first + r) * a->heads + head) * width;
                    for (long i = 0; i < width; i += LANES)
                        set(room.d_out + r * width + i, get(d_out + from + i));
                }
                products(room.query, room.key_columns, width, padded, end, room.scores);
                products(room.d_out, room.value_columns, width, padded, end, room.d_scores);
                for (long r = 0; r < ROWS; r++) {
                    float *weights = room.scores + r * padded, *own = room.d_scores + r * padded;
                    if (first + r >= a->queries) {
                        memset(weights, 0, end * sizeof(float));
                        memset(own, 0, end * sizeof(float));
                        continue;
                    }
                    float log = a->weight_logs[(text * a->heads + head) * a->queries + first + r];
                    floats dots = {0};
                    for (long j = 0; j < end; j += LANES) {
                        floats e = below(exponential(at(weights + j) * scale - log), j, seen[r], 0);
                        set(weights + j, e);
                        dots += e * at(own + j);
                    }
                    float dot = sum(dots);
                    for (long j = 0; j < end; j += LANES)
                        set(own + j, at(weights + j) * (at(own + j) - dot) * scale);
                }
                mixtures(room.d_scores, room.keys, width, padded, end, room.out);
                long all_seen = end < a->length ? end : a->length;
                spread(room.d_scores, room.query, width, padded, all_seen, room.d_keys);
                spread(room.scores, room.d_out, width, padded, all_seen, room.d_values);
                for (long r = 0; r < ROWS && first + r < a->queries; r++) {
                    long query = text * a->queries + first + r;
                    rotate_out(a, room.out + r * width, place_of(a, text, first + r),
                               d_query + query * a->query_stride + head * width);
                }
            }
            if (head % group == group - 1)
                for (long j = 0; j < a->length; j++) {
                    long to = (text * a->length + j) * a->key_stride + head / group * width;
                    rotate_out(a, room.d_keys + j * width, j, d_keys + to);
                    for (long i = 0; i < width; i += LANES)
                        put(d_values + to + i, at(room.d_values + j * width + i));
                }
        }
    free(room.whole);
}
