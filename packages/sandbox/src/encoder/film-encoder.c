/*
 * The film encoder: composes a frame from the pixels of canvases and encodes it with minih264 (CC0) in WebAssembly
 * SIMD. The script build.sh compiles it into film-encoder.gen.ts. JavaScript writes pixels at the addresses that the
 * functions return.
 */
#define __EMSCRIPTEN__ 1 /* chooses the byte order */
#ifndef PLAIN /* film-encoder.spec.ts compares the encoder with the plain one */
#define __i386__ 1 /* chooses the SSE2 code, for which include/emmintrin.h has WebAssembly SIMD */
#define __SSE2__ 1
#define MINIH264_ONLY_SIMD
#endif
#define H264E_MAX_THREADS 0
#define H264E_SVC_API 0
#define H264E_ENABLE_DENOISE 0
#define MINIH264_IMPLEMENTATION
#include "minih264e.h"
#include "pixels.h"

#define EXPORT(name) __attribute__((export_name(#name))) name
#define PAGE 65536
/* How many bytes the kernels may read or write past the end of a row. */
#define SLACK 64

extern unsigned char __heap_base;
static uintptr_t next_free;

static struct {
  int width, height, scale;
  H264E_create_param_t settings;
  H264E_persist_t *encoder;
  H264E_scratch_t *scratch;
  H264E_io_yuv_t frame;
  uint8_t *scene, *letters, *cover, *rows[2];
  uint16_t *sums;
  int letter_rows, quantizer, speed;
} film;

/* Memory is never freed, because each instance encodes only one film. */
static void *allocate(size_t bytes) {
  if (!next_free) next_free = (uintptr_t)&__heap_base;
  const uintptr_t start = (next_free + 63) & ~(uintptr_t)63;
  next_free = start + bytes + SLACK;
  const size_t pages = (next_free + PAGE - 1) / PAGE, now = __builtin_wasm_memory_size(0);
  if (pages > now && __builtin_wasm_memory_grow(0, pages - now) == (size_t)-1) return NULL;
  return (void *)start;
}

/* Prepares the encoder for a film. Sizes are even. The scene is enlarged by `scale`, 1 or 2. Returns 0 on success. */
int EXPORT(open)(int width, int height, int scale, int letter_rows, int cover_rows, int quantizer, int speed) {
  const int stride = (width + 15) & ~15;
  film.width = width, film.height = height, film.scale = scale, film.letter_rows = letter_rows;
  film.quantizer = quantizer, film.speed = speed;
  film.settings.width = width, film.settings.height = height;
  /* A frame of whole macroblocks is reconstructed in place, which saves the memory of one frame. */
  film.settings.const_input_flag = ((width | height) & 15) != 0;
  film.settings.vbv_size_bytes = 100000 / 8;
  int persist = 0, scratch = 0;
  const int status = H264E_sizeof(&film.settings, &persist, &scratch);
  if (status) return status;
  film.encoder = allocate(persist);
  film.scratch = allocate(scratch);
  film.frame.stride[0] = stride, film.frame.stride[1] = film.frame.stride[2] = stride / 2;
  film.frame.yuv[0] = allocate(stride * height);
  film.frame.yuv[1] = allocate(stride / 2 * (height / 2));
  film.frame.yuv[2] = allocate(stride / 2 * (height / 2));
  film.scene = allocate((width / scale) * (height / scale) * 4);
  film.letters = allocate(width * letter_rows * 4);
  film.cover = allocate(width * cover_rows * 4);
  film.rows[0] = allocate(width * 4), film.rows[1] = allocate(width * 4);
  film.sums = allocate((width / scale + 4) * 8);
  return film.sums && film.rows[1] && film.cover && film.letters && film.scene ? 0 : -1;
}

/* The pixels of the scene: opaque RGBA, width / scale by height / scale. */
uint8_t *EXPORT(scene)(void) { return film.scene; }
/* The pixels of the letters over the scene: premultiplied RGBA, `letter_rows` rows of the full width. */
uint8_t *EXPORT(letters)(void) { return film.letters; }
/* The pixels over everything: premultiplied RGBA, full width, the rows of one call of compose. */
uint8_t *EXPORT(cover)(void) { return film.cover; }

/* The composed frame. Plane 0 is luma, with rows aligned to 16 bytes. Planes 1 and 2 are chroma, aligned to 8 bytes. */
uint8_t *EXPORT(plane)(int i) { return film.frame.yuv[i]; }

static void compose_row(uint8_t *out, int y, int letters_top) {
  const int width = film.width / film.scale;
  if (film.scale == 1) {
    memcpy(out, film.scene + y * width * 4, width * 4);
  } else {
    const int near = y / 2, other = y & 1 ? near + 1 : near - 1, last = film.height / 2 - 1;
    const int far = other < 0 ? 0 : other > last ? last : other;
    enlarge_row(out, film.scene + near * width * 4, film.scene + far * width * 4, film.sums, width);
  }
  const int letter_row = y - letters_top;
  if (letter_row >= 0 && letter_row < film.letter_rows) blend_row(out, film.letters + letter_row * film.width * 4, film.width);
}

/* Composes `count` rows of the frame from row `top`. Both numbers are even. */
void EXPORT(compose)(int top, int count, int letters_top, int covered) {
  const H264E_io_yuv_t *to = &film.frame;
  for (int y = top; y < top + count; y += 2) {
    for (int i = 0; i < 2; i++) {
      compose_row(film.rows[i], y + i, letters_top);
      if (covered) blend_row(film.rows[i], film.cover + (y + i - top) * film.width * 4, film.width);
      luma_row(to->yuv[0] + (y + i) * to->stride[0], film.rows[i], film.width);
    }
    chroma_row(to->yuv[1] + y / 2 * to->stride[1], to->yuv[2] + y / 2 * to->stride[2], film.rows[0], film.rows[1], film.width);
  }
}

/* Makes the next frame a key frame, which depends on no earlier frame. Returns 0. */
int EXPORT(restart)(void) { return H264E_init(film.encoder, &film.settings); }

/* Puts the length of a unit where the encoder writes a start code, because MP4 stores lengths. */
static void with_length(const unsigned char *unit, int size, void *unused) {
  unsigned char *at = (unsigned char *)unit - 4;
  at[0] = size >> 24, at[1] = size >> 16, at[2] = size >> 8, at[3] = size;
}

static unsigned char *coded;

/* The units of the last frame. */
unsigned char *EXPORT(output)(void) { return coded; }

/* Encodes the frame. Returns the length of its units in bytes, or -1. */
int EXPORT(encode)(void) {
  H264E_run_param_t run;
  memset(&run, 0, sizeof run);
  run.encode_speed = film.speed;
  run.qp_min = run.qp_max = film.quantizer;
  run.nalu_callback = with_length;
  int bytes = 0;
  return H264E_encode(film.encoder, film.scratch, &run, &film.frame, &coded, &bytes) ? -1 : bytes;
}
