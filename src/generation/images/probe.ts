import { open } from 'node:fs/promises';
import { type ByteSource, fileSource, memorySource } from '../../provenance/formats/byte-source.ts';
import { ProviderError, type ProviderOutput } from '../../providers/contract/provider.ts';
import { readFilmHeader } from './film-header.ts';
import { readPngSize } from './png-header.ts';

/** Type and dimensions of a file, read from its bytes: the provider's own description is not trusted. */
export interface Media {
  type: 'image' | 'video';
  contentType: string;
  extension: string;
  /** Pixels. */
  width: number;
  height: number;
  /** Seconds; videos only. */
  duration?: number;
}

const IMAGE_FORMATS: Record<string, { contentType: string; extension: string }> = {
  png: { contentType: 'image/png', extension: 'png' },
  jpeg: { contentType: 'image/jpeg', extension: 'jpg' },
  webp: { contentType: 'image/webp', extension: 'webp' },
};

/**
 * The longest duration that a file may state. No model makes a film of a day, and a price may depend on the duration.
 */
const MAX_FILM_S = 86_400;

/** @throws ProviderError internal_error when the file is no readable PNG, JPEG, WebP or MP4 */
export async function probe(output: ProviderOutput): Promise<Media> {
  try {
    return (await isMp4(output)) ? await probeVideo(output) : await probeImage(output);
  } catch (error) {
    throw new ProviderError('internal_error', { cause: error });
  }
}

async function probeImage(output: ProviderOutput): Promise<Media> {
  const png = Buffer.isBuffer(output) ? readPngSize(output) : null;
  if (png) return { type: 'image', ...IMAGE_FORMATS['png']!, ...png };
  const { default: sharp } = await import('sharp');
  const { format, width, height, autoOrient } = await sharp(Buffer.isBuffer(output) ? output : output.path).metadata();
  const known = IMAGE_FORMATS[format];
  if (!known) throw new Error(`The provider returned an image of format ${format}.`);
  return { type: 'image', ...known, width: autoOrient?.width ?? width, height: autoOrient?.height ?? height };
}

async function probeVideo(output: ProviderOutput): Promise<Media> {
  const { width, height, duration } = await withSource(output, readFilmHeader);
  if (duration > MAX_FILM_S) throw new Error(`The provider returned a film that says it lasts ${duration} s.`);
  return {
    type: 'video',
    contentType: 'video/mp4',
    extension: 'mp4',
    width,
    height,
    duration: Math.round(duration * 1000) / 1000,
  };
}

/** Bytes 4 to 7 of an ISO base media file hold the box name `ftyp`. */
async function isMp4(output: ProviderOutput): Promise<boolean> {
  return withSource(output, async (file) => (await file.read(4, 4)).toString('latin1') === 'ftyp');
}

async function withSource<Result>(
  output: ProviderOutput,
  read: (file: ByteSource) => Promise<Result>,
): Promise<Result> {
  if (Buffer.isBuffer(output)) return read(memorySource(output));
  const file = await open(output.path);
  try {
    return await read(fileSource(file, (await file.stat()).size));
  } finally {
    await file.close();
  }
}
