/* What `fused.c` and `blocks.c` share. */

#pragma once

#include <stdint.h>

#ifdef BF16
typedef uint16_t stored;
#else
typedef float stored;
#endif

/* Texts of `length` keys, each asked by `queries`; `stride` is from one place to the next.
   `places` says where each query stands, else they stand at their own number: it sees the keys
   up to there. */
struct attention {
    long texts, length, queries, heads, key_heads, width, query_stride, key_stride;
    const stored *query, *keys, *values;
    const int64_t *places;
    const float *cosine, *sine; /* (context, width / 2) */
    float *weight_logs;         /* (texts, heads, queries): log of the sum of exponentials */
};

void add_norm(long rows, long width, const float *stream, const stored *delta, const float *gain,
              float epsilon, float *sum_out, stored *normed, float *scale);
void add_norm_back(long rows, long width, const float *value, const float *gain,
                   const float *scale, const float *d_sum, const stored *d_normed,
                   float *d_stream, stored *d_delta, float *d_gain);
void swiglu(long rows, long width, const stored *joined, long stride, stored *out);
void swiglu_back(long rows, long width, const stored *joined, long stride, const stored *d_out,
                 stored *d_joined, stored *out);
void attend(const struct attention *a, stored *out);
void attend_back(const struct attention *a, const stored *d_out, stored *d_query, stored *d_keys,
                 stored *d_values);
