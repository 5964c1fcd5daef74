import { open } from 'node:fs/promises';
import { ProviderError, type ProviderOutput } from '../../providers/contract/provider.ts';

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

/** @throws ProviderError internal_error when the file is no readable PNG, JPEG, WebP or MP4 */
export async function probe(output: ProviderOutput): Promise<Media> {
  try {
    return (await isMp4(output)) ? await probeVideo(output) : await probeImage(output);
  } catch (error) {
    throw new ProviderError('internal_error', { cause: error });
  }
}

async function probeImage(output: ProviderOutput): Promise<Media> {
  const { default: sharp } = await import('sharp');
  const { format, width, height, autoOrient } = await sharp(Buffer.isBuffer(output) ? output : output.path).metadata();
  const known = IMAGE_FORMATS[format];
  if (!known) throw new Error(`The provider returned an image of format ${format}.`);
  return { type: 'image', ...known, width: autoOrient?.width ?? width, height: autoOrient?.height ?? height };
}

async function probeVideo(output: ProviderOutput): Promise<Media> {
  // mediabunny is loaded for the first video, because its 2 MB would make the start of every service slower.
  const { ALL_FORMATS, BufferSource, FilePathSource, Input } = await import('mediabunny');
  const source = Buffer.isBuffer(output) ? new BufferSource(output) : new FilePathSource(output.path);
  using input = new Input({ formats: ALL_FORMATS, source });
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new Error('The provider returned a file without a video track.');
  const duration = await input.computeDuration();
  return {
    type: 'video',
    contentType: 'video/mp4',
    extension: 'mp4',
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    duration: Math.round(duration * 1000) / 1000,
  };
}

/** Bytes 4 to 7 of an ISO base media file hold the box name `ftyp`. */
async function isMp4(output: ProviderOutput): Promise<boolean> {
  return (await head(output, 8)).subarray(4).toString('latin1') === 'ftyp';
}

async function head(output: ProviderOutput, bytes: number): Promise<Buffer> {
  if (Buffer.isBuffer(output)) return output.subarray(0, bytes);
  const file = await open(output.path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
