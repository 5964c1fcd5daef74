import { Injectable, Logger } from '@nestjs/common';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { ProviderOutput } from '../../providers/contract/provider.ts';

const run = promisify(execFile);

/** The time limit of ffmpeg. The first frame of a 4K video takes less than a second. */
const TIMEOUT_MS = 20_000;
const MAX_PNG_BYTES = 64 * 1024 * 1024;
/** Pixels of the longest side. */
const MAX_SIDE = 1920;
const QUALITY = 85;

/** The first frame of videos as WebP: from the provider, or else by ffmpeg if it is installed. */
@Injectable()
export class Thumbnails {
  private readonly logger = new Logger('thumbnails');
  private isMissing = false;
  /** The name of the program, or its path. */
  readonly ffmpeg: string = 'ffmpeg';

  /** @returns null if no thumbnail can be made. Never throws, because a video is complete without a thumbnail. */
  async of(output: ProviderOutput): Promise<Buffer | null> {
    if (Buffer.isBuffer(output)) return null; // providers give videos as files
    try {
      return output.thumbnail === undefined ? await this.extract(output.path) : await readFile(output.thumbnail);
    } catch (err) {
      this.logger.warn({ event: 'thumbnail.failed', err });
      return null;
    }
  }

  private async extract(path: string): Promise<Buffer | null> {
    if (this.isMissing) return null;
    // The whitelist allows files and pipes but no network, because a video may refer to parts at other addresses.
    const input = ['-protocol_whitelist', 'file,pipe', '-i', path];
    const output = ['-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe', 'pipe:1'];
    try {
      const options = { encoding: 'buffer', timeout: TIMEOUT_MS, maxBuffer: MAX_PNG_BYTES } as const;
      const { stdout } = await run(this.ffmpeg, ['-v', 'error', '-nostdin', ...input, ...output], options);
      const { default: sharp } = await import('sharp');
      const fitted = sharp(stdout).resize(MAX_SIDE, MAX_SIDE, { fit: 'inside', withoutEnlargement: true });
      return await fitted.webp({ quality: QUALITY }).toBuffer();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.isMissing = true;
      return null;
    }
  }
}
