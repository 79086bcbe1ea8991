/* The two blocks of a Llama's layer, each from one residual stream to the next, in pieces of some
   hundred rows that stay in the second-level cache with all that happens to them. Next to nothing
   is kept for the way back: products cost less than memory. */

#include <stdlib.h>

#include "attention.h"

#if defined(BF16) && defined(__AMX_BF16__) && defined(__AVX512BF16__) && defined(__linux__)

/* Rows of a piece. */
#define ROWS 256

void multiply(long rows, long depth, long columns, const stored *left, long left_stride,
              const stored *right, stored *out, long out_stride, stored *room);
void add_gradient(long rows, long height, long width, const stored *up, long up_stride,
                  const stored *down, long down_stride, float *gradient, stored *room);

/* A weight that is laid out, and the place of its gradient. */
struct weight {
    const stored *across, *back;
    float *gradient;
};

/* `inner` is the number of columns of the first product: queries, keys and values, or gate and
   up. */
struct block {
    long rows, width, inner;
    const float *stream, *gain;
    float epsilon;
    struct weight first, second;
    float *d_gain;
};

/* Room for a piece, each part on lines of the cache of its own. */
struct pieces {
    void *whole;
    char *next;
};

static struct pieces make_pieces(long bytes) {
    void *whole = aligned_alloc(64, (bytes + 64 * 64) / 64 * 64);
    return (struct pieces){whole, whole};
}

static void *take(struct pieces *pieces, long bytes) {
    void *own = pieces->next;
    pieces->next += (bytes + 63) / 64 * 64;
    return own;
}

/* From row to row of `inner` columns: rows a large power of two apart would meet in few places of
   the cache. */
static long apart(long inner) { return inner % 256 ? inner : inner + 32; }

static void add(long count, const float *stream, const stored *delta, float *out) {
    for (long i = 0; i < count; i++) {
        union {
            uint32_t bits;
            float value;
        } own = {(uint32_t)delta[i] << 16};
        out[i] = stream[i] + own.value;
    }
}

static void shorten(long count, const float *from, stored *to) {
    for (long i = 0; i < count; i++) {
        union {
            float value;
            uint32_t bits;
        } own = {from[i]};
        to[i] = (own.bits + 0x7fff + ((own.bits >> 16) & 1)) >> 16;
    }
}

/* Attention of `texts` texts of a piece to themselves, whose queries, keys and values are
   `joined`. */
static struct attention within(const struct attention *all, long first, long texts, long stride,
                               const stored *joined) {
    struct attention own = *all;
    long width = all->heads * all->width;
    own.texts = texts;
    own.queries = all->length;
    own.query_stride = own.key_stride = stride;
    own.query = joined;
    own.keys = joined + width;
    own.values = joined + width + all->key_heads * all->width;
    own.places = 0;
    own.weight_logs += first * all->heads * all->length;
    return own;
}

/* Whole texts of a piece: at least one. */
static long texts_of(const struct attention *a, long first) {
    long texts = ROWS / a->length ? ROWS / a->length : 1;
    return texts < a->texts - first ? texts : a->texts - first;
}

/* out = stream + attention(norm(stream)). `mixed` (rows, width) and the weight logs are kept. */
void attention_block(const struct block *b, const struct attention *a, stored *mixed, float *out) {
    long width = b->width, inner = b->inner, stride = apart(inner);
    long most = texts_of(a, 0) * a->length;
    struct pieces room = make_pieces(most * (8 * width + 2 * stride + 4) +
                                     128 * (width + inner) * sizeof(stored));
    stored *normed = take(&room, most * width * sizeof(stored));
    stored *joined = take(&room, most * stride * sizeof(stored));
    stored *delta = take(&room, most * width * sizeof(stored));
    float *scale = take(&room, most * sizeof(float));
    stored *tail = take(&room, 32 * (width + inner) * sizeof(stored));
    for (long first = 0, texts; first < a->texts; first += texts) {
        texts = texts_of(a, first);
        long rows = texts * a->length, from = first * a->length * width;
        add_norm(rows, width, b->stream + from, 0, b->gain, b->epsilon, 0, normed, scale);
        multiply(rows, width, inner, normed, width, b->first.across, joined, stride, tail);
        struct attention own = within(a, first, texts, stride, joined);
        attend(&own, mixed + from);
        multiply(rows, width, width, mixed + from, width, b->second.across, delta, width, tail);
        add(rows * width, b->stream + from, delta, out + from);
    }
    free(room.whole);
}

void attention_block_back(const struct block *b, const struct attention *a, const stored *mixed,
                          const float *d_out, float *d_stream) {
    long width = b->width, inner = b->inner, stride = apart(inner);
    long most = texts_of(a, 0) * a->length;
    struct pieces room = make_pieces(most * (8 * width + 4 * stride + 4) +
                                     1024 * (width + inner) * sizeof(stored));
    stored *normed = take(&room, most * width * sizeof(stored));
    stored *joined = take(&room, most * stride * sizeof(stored));
    stored *d_joined = take(&room, most * stride * sizeof(stored));
    stored *d_delta = take(&room, most * width * sizeof(stored));
    stored *d_mixed = take(&room, most * width * sizeof(stored));
    stored *d_normed = take(&room, most * width * sizeof(stored));
    float *scale = take(&room, most * sizeof(float));
    stored *tail = take(&room, 512 * (width + inner) * sizeof(stored));
    for (long first = 0, texts; first < a->texts; first += texts) {
        texts = texts_of(a, first);
        long rows = texts * a->length, from = first * a->length * width;
        add_norm(rows, width, b->stream + from, 0, b->gain, b->epsilon, 0, normed, scale);
        multiply(rows, width, inner, normed, width, b->first.across, joined, stride, tail);
        struct attention own = within(a, first, texts, stride, joined);
        shorten(rows * width, d_out + from, d_delta);
        multiply(rows, width, width, d_delta, width, b->second.back, d_mixed, width, tail);
        add_gradient(rows, width, width, d_delta, width, mixed + from, width,
                     b->second.gradient, tail);
        long narrow = a->key_heads * a->width;
        attend_back(&own, d_mixed, d_joined, d_joined + width, d_joined + width + narrow);
        add_gradient(rows, inner, width, d_joined, stride, normed, width, b->first.gradient, tail);
        multiply(rows, inner, width, d_joined, stride, b->first.back, d_normed, width, tail);
        add_norm_back(rows, width, b->stream + from, b->gain, scale, d_out + from, d_normed,
                      d_stream + from, 0, b->d_gain);
    }
    free(room.whole);
}

/* out = stream + down(silu(gate) * up) of norm(stream). */
void feed_forward_block(const struct block *b, float *out) {
    long width = b->width, inner = b->inner, stride = apart(inner);
    struct pieces room = make_pieces(ROWS * (8 * width + 3 * stride + 4) +
                                     128 * (width + inner) * sizeof(stored));
    stored *normed = take(&room, ROWS * width * sizeof(stored));
    stored *joined = take(&room, ROWS * stride * sizeof(stored));
    stored *active = take(&room, ROWS * inner / 2 * sizeof(stored));
    stored *delta = take(&room, ROWS * width * sizeof(stored));
    float *scale = take(&room, ROWS * sizeof(float));
    stored *tail = take(&room, 32 * (width + inner) * sizeof(stored));
    for (long row = 0; row < b->rows; row += ROWS) {
        long rows = b->rows - row < ROWS ? b->rows - row : ROWS, from = row * width;
        add_norm(rows, width, b->stream + from, 0, b->gain, b->epsilon, 0, normed, scale);
        multiply(rows, width, inner, normed, width, b->first.across, joined, stride, tail);
        swiglu(rows, inner / 2, joined, stride, active);
        multiply(rows, inner / 2, width, active, inner / 2, b->second.across, delta, width, tail);
        add(rows * width, b->stream + from, delta, out + from);
    }
    free(room.whole);
}

void feed_forward_block_back(const struct block *b, const float *d_out, float *d_stream) {
    long width = b->width, inner = b->inner, stride = apart(inner);
    struct pieces room = make_pieces(ROWS * (8 * width + 6 * stride + 4) +
                                     1024 * (width + inner) * sizeof(stored));
    stored *normed = take(&room, ROWS * width * sizeof(stored));
    stored *joined = take(&room, ROWS * stride * sizeof(stored));
    stored *d_joined = take(&room, ROWS * stride * sizeof(stored));
    stored *active = take(&room, ROWS * inner / 2 * sizeof(stored));
    stored *d_active = take(&room, ROWS * inner / 2 * sizeof(stored));
    stored *d_delta = take(&room, ROWS * width * sizeof(stored));
    stored *d_normed = take(&room, ROWS * width * sizeof(stored));
    float *scale = take(&room, ROWS * sizeof(float));
    stored *tail = take(&room, 512 * (width + inner) * sizeof(stored));
    for (long row = 0; row < b->rows; row += ROWS) {
        long rows = b->rows - row < ROWS ? b->rows - row : ROWS, from = row * width;
        add_norm(rows, width, b->stream + from, 0, b->gain, b->epsilon, 0, normed, scale);
        multiply(rows, width, inner, normed, width, b->first.across, joined, stride, tail);
        shorten(rows * width, d_out + from, d_delta);
        multiply(rows, width, inner / 2, d_delta, width, b->second.back, d_active, inner / 2, tail);
        swiglu_back(rows, inner / 2, joined, stride, d_active, d_joined, active);
        add_gradient(rows, width, inner / 2, d_delta, width, active, inner / 2,
                     b->second.gradient, tail);
        add_gradient(rows, inner, width, d_joined, stride, normed, width, b->first.gradient, tail);
        multiply(rows, inner, width, d_joined, stride, b->first.back, d_normed, width, tail);
        add_norm_back(rows, width, b->stream + from, b->gain, scale, d_out + from, d_normed,
                      d_stream + from, 0, b->d_gain);
    }
    free(room.whole);
}
#endif
