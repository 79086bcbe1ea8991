/* Products of bf16 matrices in the tile registers (AMX) of Intel's server processors.

   oneDNN, which PyTorch asks, lays out its arguments anew for each product and takes twice as long
   for the gradient of a weight as for the others. Here weights are laid out once a pass, from f32,
   and the gradient of a weight is laid out in pieces that stay in the second-level cache.

   A tile has 16 rows of 64 bytes. In a product it stands for 16 x 32 numbers of the left matrix, or
   for 32 x 16 of the right one, there with two rows in turns: what belongs together is next to each
   other. `fused.py` asks `tiles_work` first. */

#include <stdint.h>
#include <string.h>

#if defined(__AMX_BF16__) && defined(__AVX512BF16__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIDE 16            /* rows of a tile, and its columns of f32 */
#define DEPTH 32           /* numbers that are summed at once */
#define TILE (SIDE * DEPTH) /* bf16 numbers in a tile */
#define PIECE 512          /* rows that are laid out together for a gradient */

typedef uint16_t bf16;

int tiles_work(void) {
    /* Linux gives a process the room for tiles when it asks: ARCH_REQ_XCOMP_PERM, XTILEDATA. */
    return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}

static void open_tiles(void) {
    struct {
        uint8_t palette, first, rest[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1};
    for (int tile = 0; tile < 8; tile++) {
        shape.bytes[tile] = 64;
        shape.rows[tile] = SIDE;
    }
    _tile_loadconfig(&shape);
}

/* The rows of 16 vectors become their columns. */
static void turn_lines(__m512i lines[SIDE]) {
#define EXCHANGE(step)                                                                             \
    {                                                                                              \
        int low[SIDE], high[SIDE];                                                                 \
        for (int lane = 0; lane < SIDE; lane++) {                                                  \
            low[lane] = lane & step ? SIDE + lane - step : lane;                                   \
            high[lane] = lane & step ? SIDE + lane : lane + step;                                  \
        }                                                                                          \
        __m512i first = _mm512_loadu_si512(low), second = _mm512_loadu_si512(high);                \
        for (int line = 0; line < SIDE; line++) {                                                  \
            if (line & step) continue;                                                             \
            __m512i a = lines[line], b = lines[line | step];                                       \
            lines[line] = _mm512_permutex2var_epi32(a, first, b);                                  \
            lines[line | step] = _mm512_permutex2var_epi32(a, second, b);                          \
        }                                                                                          \
    }
    EXCHANGE(8)
    EXCHANGE(4)
    EXCHANGE(2)
    EXCHANGE(1)
#undef EXCHANGE
}

static inline __m512i wide(const bf16 *from) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
}

/* Two rows in turns: 16 numbers of each. */
static inline __m512i in_turns(const bf16 *even, const bf16 *odd) {
    return _mm512_or_si512(wide(even), _mm512_slli_epi32(wide(odd), 16));
}

static inline __m256i narrow(const float *from) {
    return (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(from));
}

/* Lays out a weight (rows, inner) of f32 that stands from row `first` on (a multiple of 32) among
   `all` (a multiple of 32) rows, for products with its rows (`across`) and with its columns
   (`back`). Both hold zeros before. */
void lay_out(const float *weight, long rows, long inner, long first, long all, bf16 *across,
             bf16 *back) {
    for (long row = 0; row < rows; row += SIDE)
        for (long depth = 0; depth < inner; depth += DEPTH) {
            __m512i lines[SIDE];
            for (long r = 0; r < SIDE; r++) {
                lines[r] = _mm512_setzero_si512();
                if (row + r >= rows) continue;
                const float *from = weight + (row + r) * inner + depth;
                lines[r] = _mm512_inserti64x4(_mm512_castsi256_si512(narrow(from)),
                                              narrow(from + SIDE), 1);
            }
            /* A line has 32 numbers along `inner`, two of them in a lane. */
            bf16 numbers[SIDE][DEPTH];
            for (long r = 0; r < SIDE; r++) _mm512_storeu_si512(numbers[r], lines[r]);
            turn_lines(lines);
            bf16 *tile = across + ((first + row) / SIDE * (inner / DEPTH) + depth / DEPTH) * TILE;
            for (long r = 0; r < SIDE; r++) _mm512_storeu_si512(tile + r * DEPTH, lines[r]);
            /* Eight lines of two tiles that go on in the same 32 rows. */
            long half = (first + row) / SIDE % 2 * (SIDE / 2);
            for (long side = 0; side < 2; side++) {
                long column = depth / SIDE + side, block = (first + row) / DEPTH;
                bf16 *other = back + (column * (all / DEPTH) + block) * TILE + half * DEPTH;
                for (long r = 0; r < SIDE / 2; r++)
                    _mm512_storeu_si512(
                        other + r * DEPTH,
                        in_turns(numbers[2 * r] + side * SIDE, numbers[2 * r + 1] + side * SIDE));
            }
        }
}

static void multiply_block(long depth, long columns, const bf16 *left, long left_stride,
                           const bf16 *right, bf16 *out, long out_stride) {
    long blocks = depth / DEPTH, bytes = left_stride * sizeof(bf16);
    /* A row of a tile that lies in two lines of the cache takes several times as long. */
    float sums[2 * SIDE][2 * SIDE] __attribute__((aligned(64)));
    for (long column = 0; column < columns; column += 2 * SIDE) {
        int both = column + SIDE < columns;
        const bf16 *one = right + column / SIDE * blocks * TILE, *two = one + blocks * TILE;
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (long block = 0; block < blocks; block++) {
            _tile_loadd(4, left + block * DEPTH, bytes);
            _tile_loadd(5, left + SIDE * left_stride + block * DEPTH, bytes);
            _tile_loadd(6, one + block * TILE, 64);
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 5, 6);
            if (!both) continue;
            _tile_loadd(7, two + block * TILE, 64);
            _tile_dpbf16ps(2, 4, 7);
            _tile_dpbf16ps(3, 5, 7);
        }
        _tile_stored(0, sums[0], sizeof sums[0]);
        _tile_stored(1, sums[SIDE], sizeof sums[0]);
        _tile_stored(2, sums[0] + SIDE, sizeof sums[0]);
        _tile_stored(3, sums[SIDE] + SIDE, sizeof sums[0]);
        for (long row = 0; row < 2 * SIDE; row++) {
            void *to = out + row * out_stride + column;
            if (both)
                _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(
                                            _mm512_load_ps(sums[row] + SIDE),
                                            _mm512_load_ps(sums[row])));
            else
                _mm256_storeu_si256(to, narrow(sums[row]));
        }
    }
}

/* out (rows, columns) = left (rows, depth) times what was laid out; `depth` is a multiple of 32,
   `columns` of 16. `room` holds 32 rows of both. */
void multiply(long rows, long depth, long columns, const bf16 *left, long left_stride,
              const bf16 *right, bf16 *out, long out_stride, bf16 *room) {
    open_tiles();
    long row = 0;
    for (; row + 2 * SIDE <= rows; row += 2 * SIDE)
        multiply_block(depth, columns, left + row * left_stride, left_stride, right,
                       out + row * out_stride, out_stride);
    if (row < rows) {
        bf16 *result = room + 2 * SIDE * depth;
        memset(room, 0, 2 * SIDE * depth * sizeof(bf16));
        for (long r = 0; row + r < rows; r++)
            memcpy(room + r * depth, left + (row + r) * left_stride, depth * sizeof(bf16));
        multiply_block(depth, columns, room, depth, right, result, columns);
        for (long r = 0; row + r < rows; r++)
            memcpy(out + (row + r) * out_stride, result + r * columns, columns * sizeof(bf16));
    }
    _tile_release();
}

/* Rows `first` and the next 31, in turns, of which those from `rows` on are zeros: a line a pair of
   rows. */
static void pairs(const bf16 *from, long stride, long first, long rows, long column,
                  __m512i lines[SIDE]) {
    static const bf16 nothing[SIDE];
    for (long r = 0; r < SIDE; r++) {
        long even = first + 2 * r, odd = even + 1;
        lines[r] = in_turns(even < rows ? from + even * stride + column : nothing,
                            odd < rows ? from + odd * stride + column : nothing);
    }
}

/* gradient (height, width) += up (rows, height) turned, times down (rows, width); both sizes are
   multiples of 32. `room` holds 512 rows of both. */
void add_gradient(long rows, long height, long width, const bf16 *up, long up_stride,
                  const bf16 *down, long down_stride, float *gradient, bf16 *room) {
    open_tiles();
    for (long piece = 0; piece < rows; piece += PIECE) {
        long blocks = (rows - piece + DEPTH - 1) / DEPTH;
        if (blocks > PIECE / DEPTH) blocks = PIECE / DEPTH;
        bf16 *left = room, *right = room + PIECE * height;
        __m512i lines[SIDE];
        for (long block = 0; block < blocks; block++) {
            long first = piece + block * DEPTH;
            for (long row = 0; row < height; row += SIDE) {
                bf16 *tile = left + (row / SIDE * blocks + block) * TILE;
                pairs(up, up_stride, first, rows, row, lines);
                turn_lines(lines);
                for (long r = 0; r < SIDE; r++) _mm512_storeu_si512(tile + r * DEPTH, lines[r]);
            }
            for (long column = 0; column < width; column += SIDE) {
                bf16 *tile = right + (column / SIDE * blocks + block) * TILE;
                pairs(down, down_stride, first, rows, column, lines);
                for (long r = 0; r < SIDE; r++) _mm512_storeu_si512(tile + r * DEPTH, lines[r]);
            }
        }
        long bytes = width * sizeof(float);
        for (long row = 0; row < height; row += 2 * SIDE)
            for (long column = 0; column < width; column += 2 * SIDE) {
                float *to = gradient + row * width + column, *below = to + SIDE * width;
                const bf16 *a = left + row / SIDE * blocks * TILE, *b = a + blocks * TILE;
                const bf16 *c = right + column / SIDE * blocks * TILE, *d = c + blocks * TILE;
                _tile_loadd(0, to, bytes);
                _tile_loadd(1, below, bytes);
                _tile_loadd(2, to + SIDE, bytes);
                _tile_loadd(3, below + SIDE, bytes);
                for (long block = 0; block < blocks; block++) {
                    _tile_loadd(4, a + block * TILE, 64);
                    _tile_loadd(6, c + block * TILE, 64);
                    _tile_dpbf16ps(0, 4, 6);
                    _tile_loadd(5, b + block * TILE, 64);
                    _tile_dpbf16ps(1, 5, 6);
                    _tile_loadd(7, d + block * TILE, 64);
                    _tile_dpbf16ps(2, 4, 7);
                    _tile_dpbf16ps(3, 5, 7);
                }
                _tile_stored(0, to, bytes);
                _tile_stored(1, below, bytes);
                _tile_stored(2, to + SIDE, bytes);
                _tile_stored(3, below + SIDE, bytes);
            }
    }
    _tile_release();
}
#else
int tiles_work(void) { return 0; }
#endif
