/* Converts the pixels of a canvas (RGBA) to a frame of the encoder (planar 4:2:0), two rows at a time. */
#pragma once
#include <stdint.h>
#include <string.h>
#include <wasm_simd128.h>

/* Blends premultiplied pixels over a row. Up to three pixels past the end of both rows may be read and written. */
static void blend_row(uint8_t *below, const uint8_t *above, int width) {
  const v128_t opaque = wasm_i16x8_const_splat(255), half = wasm_i16x8_const_splat(128);
  for (int x = 0; x < width; x += 4) {
    const v128_t over = wasm_v128_load(above + 4 * x);
    const v128_t alpha = wasm_i8x16_shuffle(over, over, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
    if (!wasm_v128_any_true(alpha)) continue;
    const v128_t under = wasm_v128_load(below + 4 * x);
    v128_t low = wasm_i16x8_mul(wasm_u16x8_extend_low_u8x16(under), wasm_i16x8_sub(opaque, wasm_u16x8_extend_low_u8x16(alpha)));
    v128_t high = wasm_i16x8_mul(wasm_u16x8_extend_high_u8x16(under), wasm_i16x8_sub(opaque, wasm_u16x8_extend_high_u8x16(alpha)));
    low = wasm_i16x8_add(low, half); /* divides by 255, rounded */
    low = wasm_u16x8_shr(wasm_i16x8_add(low, wasm_u16x8_shr(low, 8)), 8);
    high = wasm_i16x8_add(high, half);
    high = wasm_u16x8_shr(wasm_i16x8_add(high, wasm_u16x8_shr(high, 8)), 8);
    wasm_v128_store(below + 4 * x, wasm_u8x16_add_sat(over, wasm_u8x16_narrow_i16x8(low, high)));
  }
}

/* Enlarges one row of `width` pixels to twice the width. `near` is the row in which the result lies, and `far` the
   next row in its direction. In both directions the result is three parts of the nearer pixel and one part of the
   farther one. `sums` has room for width + 4 pixels with 16 bits a channel. */
static void enlarge_row(uint8_t *out, const uint8_t *near, const uint8_t *far, uint16_t *sums, int width) {
  uint16_t *const first = sums + 4; /* one pixel of margin, because the first and last pixel of the row repeat */
  for (int x = 0; x < width; x += 4) {
    const v128_t a = wasm_v128_load(near + 4 * x), b = wasm_v128_load(far + 4 * x);
    const v128_t low = wasm_u16x8_extend_low_u8x16(a), high = wasm_u16x8_extend_high_u8x16(a);
    const v128_t low3 = wasm_i16x8_add(low, wasm_i16x8_shl(low, 1)), high3 = wasm_i16x8_add(high, wasm_i16x8_shl(high, 1));
    wasm_v128_store(first + 4 * x, wasm_i16x8_add(low3, wasm_u16x8_extend_low_u8x16(b)));
    wasm_v128_store(first + 4 * x + 8, wasm_i16x8_add(high3, wasm_u16x8_extend_high_u8x16(b)));
  }
  memcpy(sums, first, 8);
  memcpy(first + 4 * width, first + 4 * (width - 1), 8);
  const v128_t half = wasm_i16x8_const_splat(8);
  for (int x = 0; x < width; x += 2) {
    const v128_t here = wasm_v128_load(first + 4 * x);
    const v128_t here3 = wasm_i16x8_add(wasm_i16x8_add(here, wasm_i16x8_shl(here, 1)), half);
    const v128_t left = wasm_u16x8_shr(wasm_i16x8_add(here3, wasm_v128_load(first + 4 * x - 4)), 4);
    const v128_t right = wasm_u16x8_shr(wasm_i16x8_add(here3, wasm_v128_load(first + 4 * x + 4)), 4);
    const v128_t both = wasm_u8x16_narrow_i16x8(left, right);
    wasm_v128_store(out + 8 * x, wasm_i32x4_shuffle(both, both, 0, 2, 1, 3));
  }
}

/* Adds neighbouring 32-bit lanes of two vectors with four lanes each. */
static inline v128_t add_pairs(v128_t a, v128_t b) {
  return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
}

static inline v128_t luma_of_four(v128_t pixels) {
  const v128_t weights = wasm_i16x8_const(5983, 20127, 2032, 0, 5983, 20127, 2032, 0);
  const v128_t sums = add_pairs(wasm_i32x4_dot_i16x8(wasm_u16x8_extend_low_u8x16(pixels), weights),
                                wasm_i32x4_dot_i16x8(wasm_u16x8_extend_high_u8x16(pixels), weights));
  return wasm_i32x4_shr(wasm_i32x4_add(sums, wasm_i32x4_const_splat(540672)), 15); /* 16 and a half, in 1/32768 */
}

static void luma_row(uint8_t *out, const uint8_t *pixels, int width) {
  for (int x = 0; x < width; x += 8) {
    const v128_t eight = wasm_i16x8_narrow_i32x4(luma_of_four(wasm_v128_load(pixels + 4 * x)), luma_of_four(wasm_v128_load(pixels + 4 * x + 16)));
    wasm_v128_store64_lane(out + x, wasm_u8x16_narrow_i16x8(eight, eight), 0);
  }
}

/* The sums of two blocks, each of two by two pixels. */
static inline v128_t two_blocks(v128_t upper, v128_t lower) {
  const v128_t left = wasm_i16x8_add(wasm_u16x8_extend_low_u8x16(upper), wasm_u16x8_extend_low_u8x16(lower));
  const v128_t right = wasm_i16x8_add(wasm_u16x8_extend_high_u8x16(upper), wasm_u16x8_extend_high_u8x16(lower));
  return wasm_i16x8_add(wasm_i64x2_shuffle(left, right, 0, 2), wasm_i64x2_shuffle(left, right, 1, 3));
}

static inline void chroma_of_four(uint8_t *out, v128_t first, v128_t second, v128_t weights) {
  const v128_t sums = add_pairs(wasm_i32x4_dot_i16x8(first, weights), wasm_i32x4_dot_i16x8(second, weights));
  const v128_t four = wasm_i32x4_shr(wasm_i32x4_add(sums, wasm_i32x4_const_splat(33685504)), 18); /* 128 and a half */
  const v128_t bytes = wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(four, four), four);
  wasm_v128_store32_lane(out, bytes, 0);
}

/* Chroma of BT.709 in limited range, which players assume for HD. */
static void chroma_row(uint8_t *u, uint8_t *v, const uint8_t *upper, const uint8_t *lower, int width) {
  const v128_t blue = wasm_i16x8_const(-6596, -22189, 28785, 0, -6596, -22189, 28785, 0);
  const v128_t red = wasm_i16x8_const(28785, -26145, -2640, 0, 28785, -26145, -2640, 0);
  for (int x = 0; x < width; x += 8) {
    const v128_t first = two_blocks(wasm_v128_load(upper + 4 * x), wasm_v128_load(lower + 4 * x));
    const v128_t second = two_blocks(wasm_v128_load(upper + 4 * x + 16), wasm_v128_load(lower + 4 * x + 16));
    chroma_of_four(u + x / 2, first, second, blue);
    chroma_of_four(v + x / 2, first, second, red);
  }
}
