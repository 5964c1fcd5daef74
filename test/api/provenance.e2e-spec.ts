// Own settings for one test, a credential to sign with; the other tests join.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { aCat } from '../support/clients/api.ts';
import { expectExact, type Made, make, pixelsOf } from '../support/made.ts';
import { makeSigningCredential } from '../support/servers/certificate.ts';
import { joinService, type SharedService, startOwnService } from '../support/service.ts';

const SOURCE_TYPE = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';
const aFilm = { model: 'sora-2', prompt: 'A wave', resolution: '720P', aspect_ratio: '16:9', duration: 1 };

/** The bytes without the task's own words, which is all that differs between two tasks. */
const withoutTask = ({ bytes, taskId }: Made): string =>
  bytes
    .toString('latin1')
    .replaceAll(taskId, 'task')
    .replace(/(XML:com\.adobe\.xmp.*<\?xpacket end="w"\?>).{4}/s, '$1');

describe('the provenance of outputs', () => {
  let service: SharedService;
  let first: Made;
  beforeAll(async () => {
    service = await joinService();
    first = await make(service, aCat);
  });
  afterAll(() => service.close());

  it('is XMP by default, which names the source type, the model and the task; nothing else differs', async () => {
    const second = await make(service, aCat);
    for (const made of [first, second]) {
      expectExact(made);
      const xmp = (await sharp(made.bytes).metadata()).xmp!.toString();
      expect(xmp).toContain(SOURCE_TYPE);
      expect(xmp).toContain('<darkroom:Model>gpt-image-2</darkroom:Model>');
      expect(xmp).toContain(`<darkroom:TaskId>${made.taskId}</darkroom:TaskId>`);
    }
    expect(withoutTask(first)).toBe(withoutTask(second));
    const { headers } = await fetch(first.output.url);
    expect(headers.get('etag')).toBe(`"${first.output.sha256}"`);
    const { text } = await service.api.get('/metrics');
    expect(text).toMatch(/darkroom_outputs_marked_total\{mark="metadata"\} [1-9]/);
  });

  it('is in films too', async () => {
    const film = await make(service, aFilm);
    expectExact(film);
    expect(film.output).toMatchObject({ width: 1280, height: 720, duration: 1 });
    expect(film.bytes.subarray(-2000).toString()).toContain(`<darkroom:TaskId>${film.taskId}</darkroom:TaskId>`);
  });

  it('is signed with PROVENANCE=c2pa, and the task describes the signed file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'darkroom-c2pa-'));
    const { cert, key } = makeSigningCredential();
    const paths = { C2PA_CERT: join(folder, 'cert.pem'), C2PA_KEY: join(folder, 'key.pem') };
    writeFileSync(paths.C2PA_CERT, cert);
    writeFileSync(paths.C2PA_KEY, key);
    const signing = await startOwnService({ PROVENANCE: 'c2pa', ...paths });
    try {
      const picture = await make(signing, aCat);
      expectExact(picture);
      expect(picture.bytes.toString('latin1')).toContain('c2pa.created');
      expect(picture.bytes.toString('latin1')).toContain(picture.taskId);
      expect((await pixelsOf(picture.bytes)).equals(await pixelsOf(first.bytes))).toBe(true);
      expect((await signing.api.get('/metrics')).text).toContain('darkroom_outputs_marked_total{mark="c2pa"} 1');
    } finally {
      await signing.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
