import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import sharp from 'sharp';
import { blank } from '../../../test/support/stubs/media.ts';
import { Thumbnails } from './thumbnails.ts';

describe('the thumbnail of a video', () => {
  let folder: string;
  beforeAll(() => Logger.overrideLogger(false)); // failures are logged
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'darkroom-thumbnails-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const write = (name: string, bytes: Buffer | string): string => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };

  /** With another program in place of ffmpeg. test/outside/thumbnails.e2e-spec.ts runs the real one. */
  function thumbnailsBy(script: string): Thumbnails {
    const ffmpeg = write('ffmpeg', `#!/bin/sh\n${script}\n`);
    chmodSync(ffmpeg, 0o755);
    return Object.assign(new Thumbnails(), { ffmpeg });
  }

  it('is the frame that ffmpeg extracts, at most 1920 pixels wide', async () => {
    const asked = join(folder, 'asked');
    for (const [width, height, fitted] of [
      [640, 368, { width: 640, height: 368 }],
      [2560, 1440, { width: 1920, height: 1080 }],
    ] as const) {
      const frame = write('frame.png', blank(width, height, 1));
      const thumbnails = thumbnailsBy(`echo "$@" > '${asked}'; cat '${frame}'`);
      const thumbnail = await thumbnails.of({ path: '/film.mp4' });
      expect(await sharp(thumbnail!).metadata()).toMatchObject({ format: 'webp', ...fitted });
    }
    expect(readFileSync(asked, 'utf8')).toContain('-protocol_whitelist file,pipe -i /film.mp4 -frames:v 1');
  });

  it('is missing if ffmpeg cannot read the file, and made of the next one', async () => {
    const frame = write('frame.png', blank(8, 8, 1));
    const thumbnails = thumbnailsBy(`case "$*" in *text*) exit 1;; esac; cat '${frame}'`);
    expect(await thumbnails.of({ path: '/text.mp4' })).toBeNull();
    expect(await thumbnails.of({ path: '/film.mp4' })).not.toBeNull();
  });

  it('is missing without ffmpeg', async () => {
    const thumbnails = Object.assign(new Thumbnails(), { ffmpeg: join(folder, 'nothing') });
    expect(await thumbnails.of({ path: '/film.mp4' })).toBeNull();
  });

  it('is the one that the provider made, if it made one', async () => {
    const still = write('still.webp', await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } }).webp().toBuffer()); // prettier-ignore
    const made = await new Thumbnails().of({ path: '/nowhere', thumbnail: still });
    expect(await sharp(made!).metadata()).toMatchObject({ format: 'webp', width: 8 });
  });
});
