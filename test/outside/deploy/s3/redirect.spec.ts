import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskBody } from '../../../support/clients/api.ts';
import { type OwnService, startOwnService } from '../../../support/service.ts';
import { aCat } from '../../../support/clients/api.ts';
import { describeWith } from '../tools.ts';
import { CREDENTIALS, startVersityGateway } from './versitygw.ts';

/** Seconds. */
const LONGEST = 300;
/** Milliseconds in which a link of the bucket is signed the same way. */
const SAME_LINK = 75_000;

const sha256 = (bytes: ArrayBuffer) => createHash('sha256').update(Buffer.from(bytes)).digest('hex');

describeWith(
  { versitygw: 'go install github.com/versity/versitygw/cmd/versitygw@v1.8.0' },
  'FILE_DELIVERY=redirect',
  () => {
    let server: Awaited<ReturnType<typeof startVersityGateway>>;
    let service: OwnService;
    let task: TaskBody;
    const before = { ...process.env };

    beforeAll(async () => {
      Object.assign(process.env, CREDENTIALS);
      server = await startVersityGateway();
      service = await startOwnService({
        ...CREDENTIALS,
        STORAGE_URL: `s3://results?endpoint=${server.endpoint}`,
        FILE_DELIVERY: 'redirect',
      });
      const { body } = await service.api.create(aCat);
      task = await service.api.untilFinal(body.task_id);
      // Links are compared: not at the moment at which the next one is signed.
      const left = SAME_LINK - (Date.now() % SAME_LINK);
      if (left < 10_000) await sleep(left);
    });
    afterAll(async () => {
      await service?.close();
      await server?.stop();
      process.env = before;
    });
    const output = () => task.result!.outputs[0]!;
    const ask = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(url, { method, headers, redirect: 'manual' });
    const locationOf = async (url: string, headers: Record<string, string> = {}): Promise<URL> =>
      new URL((await ask(url, headers)).headers.get('location')!);

    it('sends readers to the bucket, which gives the bytes with their type and name', async () => {
      const { url, sha256: hash, content_type: type, id } = output();
      const answer = await ask(url);
      expect(answer.status).toBe(302);
      expect(await answer.text()).toBe('');
      const location = new URL(answer.headers.get('location')!);
      expect(location.origin).toBe(server.endpoint);
      const bytes = await fetch(location);
      expect([bytes.status, bytes.headers.get('content-type')]).toEqual([200, type]);
      expect(bytes.headers.get('content-disposition')).toBe(`inline; filename="${id}.png"`);
      expect(sha256(await bytes.arrayBuffer())).toBe(hash);
      const saved = await fetch(`${url}&download=1`); // follows
      expect(saved.headers.get('content-disposition')).toBe(`attachment; filename="${id}.png"`);
      expect(sha256(await saved.arrayBuffer())).toBe(hash);
    });

    it('signs for at most five minutes, and twice the same address', async () => {
      const [first, second] = [await locationOf(output().url), await locationOf(output().url)];
      expect(second.href).toBe(first.href);
      expect(Number(first.searchParams.get('X-Amz-Expires'))).toBe(LONGEST);
      const [, maxAge] = /^private, max-age=([0-9]+)$/.exec((await ask(output().url)).headers.get('cache-control')!)!;
      expect(Number(maxAge)).toBeGreaterThanOrEqual(LONGEST - SAME_LINK / 1000 - 60 - 1);
      expect(Number(maxAge)).toBeLessThanOrEqual(LONGEST - 60);
      const changed = new URL(first);
      changed.searchParams.set('X-Amz-Expires', '3600');
      expect((await fetch(changed)).status).toBe(403);
      changed.href = first.href.replace('inline', 'attachment');
      expect((await fetch(changed)).status).toBe(403);
    });

    it('leads ranges to the right bytes', async () => {
      const { url, size_bytes: size } = output();
      const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
      const part = await fetch(url, { headers: { range: 'bytes=100-199' } });
      expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-199/${size}`]);
      expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(100, 200))).toBe(true);
      expect((await ask(url, { range: `bytes=${size}-` })).status).toBe(416);
    });

    it('serves the owner by key the same way, and keeps that redirect out of caches', async () => {
      const path = `${service.baseUrl}/v1/files/${output().id}/content`;
      const answer = await ask(path, { authorization: `Bearer ${service.api.key}` });
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, no-cache']);
    });

    it('answers HEAD, 304, 403 and 410 itself', async () => {
      const { url, sha256: hash, size_bytes: size, content_type: type } = output();
      const head = await ask(url, {}, 'HEAD');
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(size)]);
      expect([head.headers.get('etag'), head.headers.get('content-type')]).toEqual([`"${hash}"`, type]);
      expect((await ask(url, { 'if-none-match': `"${hash}"` })).status).toBe(304);
      expect((await ask(url.replace(/signature=./, 'signature=_'))).status).toBe(403);
      expect((await service.api.call('DELETE', `/v1/files/${output().id}`)).status).toBe(200);
      expect((await ask(url)).status).toBe(410);
    });
  },
);
