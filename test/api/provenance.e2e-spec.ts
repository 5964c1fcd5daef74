import { jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import sharp from 'sharp';
import { type TestService, startOwnService } from '../support/service.ts';
import { aCat, type OutputBody } from '../support/clients/api.ts';
import { makeSigningCredential } from '../support/servers/certificate.ts';

/** The renders of a test share the cores with other tests. */
jest.setTimeout(330_000);

const SOURCE_TYPE = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';
const aFilm = { model: 'sora-2', prompt: 'A wave', resolution: '720P', aspect_ratio: '16:9', duration: 4 };

interface Made {
  taskId: string;
  output: OutputBody;
  bytes: Buffer;
}

async function make(service: TestService, request: object): Promise<Made> {
  const { body } = await service.api.create(request);
  const task = await service.api.untilFinal(body.task_id);
  const output = task.result!.outputs[0]!;
  const bytes = Buffer.from(await (await fetch(output.url)).arrayBuffer());
  return { taskId: body.task_id, output, bytes };
}

const pixelsOf = (bytes: Buffer): Promise<Buffer> => sharp(bytes).raw().toBuffer();

/** The bytes without the task's own words, which is all that differs between two tasks. */
const withoutTask = ({ bytes, taskId }: Made): string =>
  bytes
    .toString('latin1')
    .replaceAll(taskId, 'task')
    .replace(/(XML:com\.adobe\.xmp.*<\?xpacket end="w"\?>).{4}/s, '$1');

/** Size and hash of the task are of the marked file. */
function expectExact({ output, bytes }: Made): void {
  expect(bytes.length).toBe(output.size_bytes);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(output.sha256);
}

describe('the provenance of outputs', () => {
  let unmarked: Made;

  it('with PROVENANCE=off: the bytes of the provider, the same for the same request', async () => {
    const service = await startOwnService({ PROVENANCE: 'off' });
    try {
      unmarked = await make(service, aCat);
      const again = await make(service, aCat);
      expectExact(unmarked);
      expect(again.bytes.equals(unmarked.bytes)).toBe(true);
      expect((await sharp(unmarked.bytes).metadata()).xmp).toBeUndefined();
    } finally {
      await service.close();
    }
  });

  it('by default: XMP names the source type, the model and the task; nothing else differs', async () => {
    const service = await startOwnService();
    try {
      const [first, second] = [await make(service, aCat), await make(service, aCat)];
      for (const made of [first, second]) {
        expectExact(made);
        const xmp = (await sharp(made.bytes).metadata()).xmp!.toString();
        expect(xmp).toContain(SOURCE_TYPE);
        expect(xmp).toContain('<darkroom:Model>gpt-image-2</darkroom:Model>');
        expect(xmp).toContain(`<darkroom:TaskId>${made.taskId}</darkroom:TaskId>`);
      }
      expect(withoutTask(first)).toBe(withoutTask(second));
      expect((await pixelsOf(first.bytes)).equals(await pixelsOf(unmarked.bytes))).toBe(true);
      const { headers } = await fetch(first.output.url);
      expect(headers.get('etag')).toBe(`"${first.output.sha256}"`);

      const film = await make(service, aFilm);
      expectExact(film);
      expect(film.output).toMatchObject({ width: 1280, height: 720, duration: 4 });
      expect(film.bytes.subarray(-2000).toString()).toContain(`<darkroom:TaskId>${film.taskId}</darkroom:TaskId>`);
      expect((await service.api.get('/metrics')).text).toContain('darkroom_outputs_marked_total{mark="metadata"} 3');
    } finally {
      await service.close();
    }
  });

  describe('with PROVENANCE=c2pa', () => {
    let folder: string;
    beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'darkroom-c2pa-'))));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    function settings(options = {}) {
      const { cert, key } = makeSigningCredential(options);
      const paths = { C2PA_CERT: join(folder, 'cert.pem'), C2PA_KEY: join(folder, 'key.pem') };
      writeFileSync(paths.C2PA_CERT, cert);
      writeFileSync(paths.C2PA_KEY, key);
      return { PROVENANCE: 'c2pa', ...paths };
    }

    it('signs what the provider made, and the task describes the signed file', async () => {
      const service = await startOwnService(settings());
      try {
        const picture = await make(service, aCat);
        expectExact(picture);
        expect(picture.bytes.toString('latin1')).toContain('c2pa.created');
        expect(picture.bytes.toString('latin1')).toContain(picture.taskId);
        expect((await pixelsOf(picture.bytes)).equals(await pixelsOf(unmarked.bytes))).toBe(true);
        expect((await service.api.get('/metrics')).text).toContain('darkroom_outputs_marked_total{mark="c2pa"} 1');
      } finally {
        await service.close();
      }
    });

    it('does not start without a credential that readers accept', async () => {
      await expect(startOwnService({ PROVENANCE: 'c2pa' })).rejects.toThrow(
        'C2PA_CERT and C2PA_KEY are required when PROVENANCE is c2pa',
      );
      await expect(startOwnService(settings({ endsInS: -60 }))).rejects.toThrow('C2PA_CERT expired on');
      await expect(startOwnService({ ...settings(), C2PA_KEY: '/absent' })).rejects.toThrow(
        'C2PA_KEY: /absent cannot be read',
      );
    });
  });
});
