/** Samples in a second. */
export const SOUND_RATE = 48_000;
/** Samples in a frame of AAC. */
export const FRAME_SAMPLES = 1024;
/** AAC-LC, 48,000 samples a second, one channel: five bits for the type, four for the rate, four for the channels. */
export const SOUND_CONFIG = Buffer.of(0x11, 0x88);

/** A frame of silence in AAC-LC with one channel. */
const SILENT_FRAME = Buffer.of(0x00, 0xc8, 0x00, 0x80, 0x23, 0x80);

/** Frames of silence for a film. The last frame may end after the film. */
export const silenceOf = (seconds: number): Buffer[] =>
  Array.from({ length: Math.ceil((seconds * SOUND_RATE) / FRAME_SAMPLES) }, () => SILENT_FRAME);
