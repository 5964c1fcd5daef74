import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import sharp from 'sharp';
import { Thumbnails } from '../../src/generation/images/thumbnails.ts';
import { film } from '../support/stubs/media.ts';
import { describeWith } from './deploy/tools.ts';

describeWith({ ffmpeg: 'apt-get install ffmpeg' }, 'the thumbnail of a video, by ffmpeg', () => {
  let folder: string;
  beforeAll(() => Logger.overrideLogger(false)); // failures are logged
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'darkroom-thumbnails-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const write = (name: string, bytes: Buffer | string): string => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };

  it('is its first frame, at most 1920 pixels wide', async () => {
    const small = await new Thumbnails().of({ path: write('small.mp4', await film(640, 368, 1)) });
    expect(await sharp(small!).metadata()).toMatchObject({ format: 'webp', width: 640, height: 368 });
    const large = await new Thumbnails().of({ path: write('large.mp4', await film(2560, 1440, 1)) });
    expect(await sharp(large!).metadata()).toMatchObject({ format: 'webp', width: 1920, height: 1080 });
  });

  it('is missing if the file is no video, or a list that names other files', async () => {
    const thumbnails = new Thumbnails();
    expect(await thumbnails.of({ path: write('text.mp4', 'not a video') })).toBeNull();
    const list = `#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/secret.ts\n#EXT-X-ENDLIST\n`;
    expect(await thumbnails.of({ path: write('list.mp4', list) })).toBeNull();
  });
});
