/** Samples a second. */
export const SOUND_RATE = 48_000;
/** Samples a frame of AAC. */
export const FRAME_SAMPLES = 1024;
/** AAC-LC, 48,000 samples a second, one channel: five bits of type, four of rate, four of channels. */
export const SOUND_CONFIG = Buffer.of(0x11, 0x88);

/** One frame of silence in AAC-LC of one channel. */
const SILENT_FRAME = Buffer.of(0x00, 0xc8, 0x00, 0x80, 0x23, 0x80);

/** Frames of silence for a film, of which the last may be longer than what is left. */
export const silenceOf = (seconds: number): Buffer[] =>
  Array.from({ length: Math.ceil((seconds * SOUND_RATE) / FRAME_SAMPLES) }, () => SILENT_FRAME);
