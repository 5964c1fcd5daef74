/* The SSE2 intrinsics that minih264 uses, in WebAssembly SIMD. Each gives the same bits as on x86. */
#pragma once
#include <wasm_simd128.h>

typedef v128_t __m128i;
typedef v128_t __m128;

#define _mm_setzero_si128() wasm_i32x4_const(0, 0, 0, 0)
#define _mm_set1_epi8(a) wasm_i8x16_splat(a)
#define _mm_set1_epi16(a) wasm_i16x8_splat(a)
#define _mm_set1_epi32(a) wasm_i32x4_splat(a)
#define _mm_set_epi32(d, c, b, a) wasm_i32x4_make(a, b, c, d)

#define _mm_load_si128(p) wasm_v128_load(p)
#define _mm_loadu_si128(p) wasm_v128_load(p)
#define _mm_loadl_epi64(p) wasm_v128_load64_zero(p)
#define _mm_store_si128(p, a) wasm_v128_store(p, a)
#define _mm_storeu_si128(p, a) wasm_v128_store(p, a)
#define _mm_storel_epi64(p, a) wasm_v128_store64_lane(p, a, 0)
#define _mm_cvtsi32_si128(a) wasm_i32x4_replace_lane(_mm_setzero_si128(), 0, a)
#define _mm_cvtsi128_si32(a) wasm_i32x4_extract_lane(a, 0)
#define _mm_extract_epi16(a, i) wasm_u16x8_extract_lane(a, i)
#define _mm_insert_epi16(a, b, i) wasm_i16x8_replace_lane(a, i, b)

#define _mm_and_si128 wasm_v128_and
#define _mm_or_si128 wasm_v128_or
#define _mm_xor_si128 wasm_v128_xor
#define _mm_andnot_si128(a, b) wasm_v128_andnot(b, a)

#define _mm_add_epi16 wasm_i16x8_add
#define _mm_add_epi32 wasm_i32x4_add
#define _mm_add_epi64 wasm_i64x2_add
#define _mm_sub_epi8 wasm_i8x16_sub
#define _mm_sub_epi16 wasm_i16x8_sub
#define _mm_sub_epi32 wasm_i32x4_sub
#define _mm_adds_epu8 wasm_u8x16_add_sat
#define _mm_adds_epu16 wasm_u16x8_add_sat
#define _mm_subs_epu8 wasm_u8x16_sub_sat
#define _mm_subs_epu16 wasm_u16x8_sub_sat
#define _mm_avg_epu8 wasm_u8x16_avgr
#define _mm_avg_epu16 wasm_u16x8_avgr
#define _mm_min_epu8 wasm_u8x16_min
#define _mm_max_epu8 wasm_u8x16_max
#define _mm_min_epi16 wasm_i16x8_min
#define _mm_max_epi16 wasm_i16x8_max
#define _mm_cmpeq_epi8 wasm_i8x16_eq
#define _mm_cmpeq_epi16 wasm_i16x8_eq
#define _mm_cmpgt_epi8 wasm_i8x16_gt
#define _mm_cmpgt_epi16 wasm_i16x8_gt
#define _mm_cmplt_epi16 wasm_i16x8_lt
#define _mm_movemask_epi8 wasm_i8x16_bitmask

/* Shifts are by constants smaller than a lane. */
#define _mm_slli_epi16 wasm_i16x8_shl
#define _mm_slli_epi32 wasm_i32x4_shl
#define _mm_srai_epi16 wasm_i16x8_shr
#define _mm_srai_epi32 wasm_i32x4_shr
#define _mm_srli_epi16 wasm_u16x8_shr
#define _mm_srli_epi32 wasm_u32x4_shr

#define _mm_mullo_epi16 wasm_i16x8_mul

static inline __m128i _mm_mulhi_epi16(__m128i a, __m128i b) {
  return wasm_i16x8_shuffle(wasm_i32x4_extmul_low_i16x8(a, b), wasm_i32x4_extmul_high_i16x8(a, b), 1, 3, 5, 7, 9, 11, 13, 15);
}

static inline __m128i _mm_mulhi_epu16(__m128i a, __m128i b) {
  return wasm_i16x8_shuffle(wasm_u32x4_extmul_low_u16x8(a, b), wasm_u32x4_extmul_high_u16x8(a, b), 1, 3, 5, 7, 9, 11, 13, 15);
}

static inline __m128i _mm_mul_epu32(__m128i a, __m128i b) {
  return wasm_u64x2_extmul_low_u32x4(wasm_i32x4_shuffle(a, a, 0, 2, 0, 2), wasm_i32x4_shuffle(b, b, 0, 2, 0, 2));
}

/* Sums of absolute differences of eight bytes each, in the two 64-bit lanes. */
static inline __m128i _mm_sad_epu8(__m128i a, __m128i b) {
  __m128i difference = wasm_v128_or(wasm_u8x16_sub_sat(a, b), wasm_u8x16_sub_sat(b, a));
  __m128i fours = wasm_u32x4_extadd_pairwise_u16x8(wasm_u16x8_extadd_pairwise_u8x16(difference));
  return wasm_v128_and(wasm_i32x4_add(fours, wasm_u64x2_shr(fours, 32)), wasm_i32x4_const(-1, 0, -1, 0));
}

#define _mm_packs_epi16 wasm_i8x16_narrow_i16x8
#define _mm_packs_epi32 wasm_i16x8_narrow_i32x4
#define _mm_packus_epi16 wasm_u8x16_narrow_i16x8
#define _mm_unpacklo_epi8(a, b) wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define _mm_unpacklo_epi16(a, b) wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define _mm_unpackhi_epi16(a, b) wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define _mm_unpacklo_epi32(a, b) wasm_i32x4_shuffle(a, b, 0, 4, 1, 5)
#define _mm_unpackhi_epi32(a, b) wasm_i32x4_shuffle(a, b, 2, 6, 3, 7)
#define _mm_unpacklo_epi64(a, b) wasm_i64x2_shuffle(a, b, 0, 2)
#define _mm_unpackhi_epi64(a, b) wasm_i64x2_shuffle(a, b, 1, 3)

/* The operand may have side effects, so it is evaluated once. */
#define LANE(order, i) (((order) >> (2 * (i))) & 3)
#define _mm_shuffle_epi32(a, order) \
  ({ const v128_t once = (a); wasm_i32x4_shuffle(once, once, LANE(order, 0), LANE(order, 1), LANE(order, 2), LANE(order, 3)); })
#define _mm_shufflelo_epi16(a, order) \
  ({ const v128_t once = (a); wasm_i16x8_shuffle(once, once, LANE(order, 0), LANE(order, 1), LANE(order, 2), LANE(order, 3), 4, 5, 6, 7); })
#define _mm_shufflehi_epi16(a, order) \
  ({ const v128_t once = (a); wasm_i16x8_shuffle(once, once, 0, 1, 2, 3, 4 + LANE(order, 0), 4 + LANE(order, 1), 4 + LANE(order, 2), 4 + LANE(order, 3)); })

/* Shifts by whole bytes: bytes n to n + 15 of `a` followed by zeros, or of zeros followed by `a`. */
#define WINDOW(a, b, n) \
  wasm_i8x16_shuffle(a, b, (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7, (n) + 8, (n) + 9, (n) + 10, \
                     (n) + 11, (n) + 12, (n) + 13, (n) + 14, (n) + 15)
#define _mm_srli_si128(a, n) WINDOW(a, _mm_setzero_si128(), n)
#define _mm_slli_si128(a, n) WINDOW(_mm_setzero_si128(), a, 16 - (n))

/* Only the noise filter, which is switched off, computes in floating point. */
#define _mm_cvtepi32_ps wasm_f32x4_convert_i32x4
#define _mm_mul_ps wasm_f32x4_mul
#define _mm_castps_si128(a) (a)
