import { buffer } from 'node:stream/consumers';
import { Injectable, Logger } from '@nestjs/common';
import { Turns } from '../../platform/run/turns.ts';
import { exactly } from '../../platform/storage/exactly.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { onWhite } from '../../platform/images/on-white.ts';
import type { ShownTask, StoredOutput } from '../../tasks/record/task.entity.ts';
import { isPresent } from '../../tasks/read/task.view.ts';

/** The maximum size of one preview in bytes. */
const MAX_BYTES = 150_000;
/**
 * The maximum number of Base64 characters of all previews in a result. Claude Desktop cuts a result at 1,048,576
 * characters.
 */
const MAX_CHARACTERS = 700_000;
/** The longest side in pixels, and the quality of the encoder. The first pair whose result is small enough is taken. */
const ATTEMPTS = [
  [768, 80],
  [768, 60],
  [768, 40],
  [512, 50],
  [384, 40],
  [256, 30],
] as const;
const MAX_PIXELS = 100_000_000;
const TIMEOUT_S = 30;

export interface Preview {
  data: string;
  mimeType: 'image/jpeg';
}

/** Small pictures of outputs, for a model to look at. */
@Injectable()
export class Previews {
  private readonly logger = new Logger('mcp');
  /** One picture is decoded at a time, because a 4K picture takes some 100 MB while it is decoded. */
  private readonly turns = new Turns();

  constructor(private readonly storage: Storage) {}

  /**
   * Makes a preview, if it can, of each output that has a picture: an image, or a video with a thumbnail.
   * @param signal aborts when no client waits for the previews any more
   */
  async of(task: ShownTask, signal: AbortSignal): Promise<Preview[]> {
    const outputs = (task.result ?? []).filter((output) => isPresent(task, output) && pictureOf(output) !== null);
    const maxBytes = Math.min(MAX_BYTES, Math.floor((MAX_CHARACTERS / outputs.length / 4) * 3) - 3);
    const previews: Preview[] = [];
    for (const output of outputs) {
      const jpeg = await this.turns
        .take(task.api_key_id, signal, () => this.make(output, maxBytes))
        .catch((error: unknown) => {
          if (signal.aborted) return null; // no failure: the client has left
          throw error;
        });
      if (jpeg) previews.push({ data: jpeg.toString('base64'), mimeType: 'image/jpeg' });
    }
    return previews;
  }

  /**
   * @returns null if the file cannot be read or decoded, or no preview is small enough; the result still links the file
   */
  private async make(output: StoredOutput, maxBytes: number): Promise<Buffer | null> {
    try {
      const opened = await this.storage.open(pictureOf(output)!);
      const file = await buffer(output.type === 'image' ? exactly(opened, output.size_bytes) : opened);
      for (const [side, quality] of ATTEMPTS) {
        const jpeg = await encode(file, side, quality);
        if (jpeg.length <= maxBytes) return jpeg;
      }
      return null;
    } catch (err) {
      this.logger.warn({ event: 'preview.failed', file_id: output.id, err });
      return null;
    }
  }
}

const pictureOf = ({ type, storage_key: key, thumbnail_key: thumbnail }: StoredOutput): string | null =>
  type === 'image' ? key : (thumbnail ?? null);

async function encode(file: Buffer, side: number, quality: number): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const image = sharp(file, { limitInputPixels: MAX_PIXELS, failOn: 'none' })
    .timeout({ seconds: TIMEOUT_S })
    .autoOrient()
    .resize(side, side, { fit: 'inside', withoutEnlargement: true });
  return onWhite(image).jpeg({ quality }).toBuffer();
}
