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
  await assertSmallIndex(output);
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
  return withBytes(output, async (at) => (await at(4, 4)).toString('latin1') === 'ftyp');
}

/** Boxes of pictures and sound, or of nothing, which are not read here. */
const UNREAD = ['mdat', 'free', 'skip', 'wide'];
const MAX_BOXES = 10_000;
/** The index of a film takes some 16 bytes a frame, and as many for its sound: an hour has some 8 MiB. */
const MAX_INDEX_BYTES = 16 * 1024 * 1024;
/** Frames and sound of the fragments of a film. A fragment may announce them without a byte for each. */
const MAX_SAMPLES = 1_000_000;

/**
 * Refuses a film whose index is so large that reading it would keep the main thread busy for seconds. Of what tables
 * announce beyond their bytes, only the samples of fragments are counted.
 */
async function assertSmallIndex(output: ProviderOutput): Promise<void> {
  await withBytes(output, async (at, bytes) => {
    let [indexBytes, samples, offset] = [0, 0, 0];
    for (let boxes = 1; bytes - offset >= 8; boxes += 1) {
      const head = await at(offset, 16);
      const name = head.toString('latin1', 4, 8);
      const short = head.readUInt32BE(0);
      const stated = short === 1 && head.length === 16 ? Number(head.readBigUInt64BE(8)) : short;
      const size = stated === 0 ? bytes - offset : stated; // 0: the box extends to the end of the file
      if (size < 8) break; // no box any more; what follows is not read
      if (!UNREAD.includes(name)) indexBytes += size;
      if (boxes > MAX_BOXES || indexBytes > MAX_INDEX_BYTES) throw tooLarge();
      if (name === 'moof') samples += samplesIn(await at(offset, size));
      if (samples > MAX_SAMPLES) throw tooLarge();
      offset += size;
    }
    // The last bytes may say that a table of fragments begins so far before the end, wherever that is.
    const last = await at(Math.max(0, bytes - 4), 4);
    if (last.length === 4 && last.readUInt32BE(0) > MAX_INDEX_BYTES) {
      const named = await at(Math.max(0, bytes - last.readUInt32BE(0) + 4), 4);
      if (named.toString('latin1') === 'mfra') throw tooLarge();
    }
  });
}

const tooLarge = () => new Error('The provider returned a film with too large an index.');

/** The samples that the `trun` boxes of a fragment announce. */
function samplesIn(moof: Buffer): number {
  let samples = 0;
  for (let found = moof.indexOf('trun'); found !== -1; found = moof.indexOf('trun', found + 4)) {
    if (found + 12 <= moof.length) samples += moof.readUInt32BE(found + 8); // after the name, version and flags
  }
  return samples;
}

type ReadAt = (offset: number, length: number) => Promise<Buffer>;

/** @param read gets a function that reads some bytes, fewer at the end, and the length of the whole */
async function withBytes<Result>(
  output: ProviderOutput,
  read: (at: ReadAt, bytes: number) => Promise<Result>,
): Promise<Result> {
  if (Buffer.isBuffer(output))
    return read((offset, length) => Promise.resolve(output.subarray(offset, offset + length)), output.length);
  const file = await open(output.path);
  try {
    const at: ReadAt = async (offset, length) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    };
    return await read(at, (await file.stat()).size);
  } finally {
    await file.close();
  }
}
