import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { film as filmOf } from '../../../test/support/stubs/media.ts';
import { probe } from './probe.ts';

const box = (type: string, content: Buffer) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
};

describe('probing a film', () => {
  let film: Buffer;
  beforeAll(async () => {
    film = await filmOf(64, 64, 1);
  });

  it.each([
    ['as it is', (bytes: Buffer) => bytes],
    ['with bytes after its last box', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('\r\n')])],
    ['with zeros after its last box', (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(1_000)])],
    [
      'with other boxes',
      (bytes: Buffer) => Buffer.concat([bytes, box('uuid', Buffer.alloc(40_000)), box('free', Buffer.alloc(0))]),
    ],
  ])('reads one %s, in memory and in a file', async (_, changed) => {
    const expected = { type: 'video', contentType: 'video/mp4', extension: 'mp4', width: 64, height: 64, duration: 1 };
    expect(await probe(changed(film))).toEqual(expected);
    const folder = await mkdtemp(join(tmpdir(), 'probe-'));
    await writeFile(join(folder, 'film'), changed(film));
    expect(await probe({ path: join(folder, 'film') })).toEqual(expected);
    await rm(folder, { recursive: true });
  });

  it('refuses one that says it lasts longer than a day', async () => {
    const at = film.indexOf('mvhd') + 20; // behind the name, the version, two dates and the timescale
    const lasting = (seconds: number) => {
      const changed = Buffer.from(film);
      changed.writeUInt32BE(seconds * film.readUInt32BE(at - 4), at);
      return changed;
    };
    expect(await probe(lasting(20_000))).toMatchObject({ duration: 20_000 });
    const tooLong = Buffer.from(film);
    tooLong.writeUInt32BE(1, at - 4);
    tooLong.writeUInt32BE(86_401, at);
    await expect(probe(tooLong)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('fails as a fault of the provider when it cannot be read', async () => {
    await expect(probe(box('ftyp', Buffer.alloc(20)))).rejects.toMatchObject({ code: 'internal_error' });
  });
});
