import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { aCat, Api, type ErrorBody, type OutputBody } from '../support/clients/api.ts';
import { Browser } from '../support/clients/browser.ts';
import { aPicture, FilesClient } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { joinService, type SharedService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

interface ArchiveBody {
  object: string;
  url: string;
  expires_at: number;
  bytes: number;
}

const CENTRAL = 0x02014b50;
const END = 0x06054b50;

/** Reads a zip of stored files by its central directory, as tools do. */
function entriesOf(zip: Buffer): Map<string, Buffer> {
  const end = zip.length - 22; // no comment
  expect(zip.readUInt32LE(end)).toBe(END);
  const entries = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let n = zip.readUInt16LE(end + 10); n > 0; n -= 1) {
    expect([zip.readUInt32LE(at), zip.readUInt16LE(at + 10)]).toEqual([CENTRAL, 0]); // stored
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const local = zip.readUInt32LE(at + 42);
    const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    entries.set(zip.toString('utf8', at + 46, at + 46 + name), zip.subarray(data, data + zip.readUInt32LE(at + 24)));
    at += 46 + name + extra + comment;
  }
  return entries;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('an archive', () => {
  let service: SharedService;
  beforeAll(async () => {
    service = await joinService();
  });
  afterAll(() => service.close());

  const tenant = async (settings: object = {}) => {
    const { id, key } = await anotherKey(service.api, settings);
    return { id, key, api: new Api(service.baseUrl, key) };
  };
  const outputOf = async (api: Api, input: object = {}): Promise<OutputBody> =>
    (await api.untilFinal((await api.create({ ...aCat, ...input })).body.task_id)).result!.outputs[0]!;
  const archive = <Body = ArchiveBody>(api: Api, file_ids: unknown, more: object = {}) =>
    api.call<Body>('POST', '/v1/files/archive', { file_ids, ...more });
  const codeOf = ({ status, body }: { status: number; body: unknown }) => {
    const { error } = body as ErrorBody;
    return [status, error.code, error.param];
  };
  const refusalOf = async (url: string) => {
    const reply = await fetch(url);
    return [reply.status, ((await reply.json()) as ErrorBody).error.code];
  };

  it('is a zip of the bytes, with readable names, of the size that it says', async () => {
    const { api } = await tenant();
    const outputs = [await outputOf(api, { prompt: '../A lamp/in "fog"' }), await outputOf(api, { prompt: 'ночь' })];
    const png = await aPicture();
    const upload = (await new FilesClient(api).upload(png, {}, { name: 'My cat.png', type: 'image/png' })).body;
    const { status, body, headers } = await archive(api, [...outputs.map(({ id }) => id), upload.id]);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      object: 'archive',
      url: expect.stringMatching(new RegExp(`^${service.baseUrl}/v1/files/archive\\?file_ids=file_.*&signature=`)),
      expires_at: expect.any(Number),
      bytes: expect.any(Number),
    });
    expect(body.expires_at).toBeGreaterThan(Date.now() / 1000 + 3500);
    for (const headers of [{}, { range: 'bytes=0-9' }] as Record<string, string>[]) {
      const reply = await fetch(body.url, { headers });
      const zip = Buffer.from(await reply.arrayBuffer());
      expect([reply.status, zip.length]).toEqual([200, body.bytes]);
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        'content-type': 'application/zip',
        'content-length': String(body.bytes),
        'content-disposition': 'attachment; filename="darkroom.zip"',
        'accept-ranges': 'none',
        'cache-control': 'no-store',
      });
      const entries = entriesOf(zip);
      expect([...entries].map(([name, bytes]) => [name, sha256(bytes)])).toEqual([
        ['001-A-lamp-in-fog.png', outputs[0]!.sha256],
        ['002-ночь.png', outputs[1]!.sha256],
        ['003-My-cat.png', sha256(png)],
      ]);
    }
    const head = await fetch(body.url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(body.bytes)]);
  });

  it('has own files only, and the fault names the entry', async () => {
    const [mine, theirs] = [await tenant(), await tenant()];
    const [own, foreign] = [await outputOf(mine.api), await outputOf(theirs.api)];
    expect(codeOf(await archive(mine.api, [own.id, foreign.id]))).toEqual([400, 'file_not_found', 'file_ids[1]']);
    const pending = await new FilesClient(mine.api).announce(await aPicture());
    expect(codeOf(await archive(mine.api, [pending.id]))).toEqual([409, 'upload_incomplete', 'file_ids[0]']);
    await mine.api.call('DELETE', `/v1/files/${own.id}`);
    expect(codeOf(await archive(mine.api, [own.id]))).toEqual([400, 'file_expired', 'file_ids[0]']);
  });

  it.each([
    [[]],
    [Array.from({ length: 101 }, (_, index) => `file_${index}`)],
    [['file_a', 'file_a']],
    ['file_a'],
    [[7]],
    [null],
  ])('refuses the list %j', async (ids) => {
    const { status, body } = await archive<ErrorBody>(service.api, ids);
    expect([status, body.error.param?.replace(/\[.*/, '')]).toEqual([400, 'file_ids']);
  });

  it('is refused with a changed link', async () => {
    const { api } = await tenant();
    const [one, two] = [await outputOf(api), await outputOf(api)];
    const { url } = (await archive(api, [one.id])).body;
    const forged = [
      url.replace(one.id, two.id),
      url.replace(one.id, `${one.id},${two.id}`),
      url.replace(/expires=\d+/, 'expires=9999999999'),
      url.replace(/&signature=.*/, ''),
      url.replace(/file_ids=[^&]*&/, ''),
      `${url}&file_ids=${two.id}`,
      `${service.baseUrl}/v1/files/archive?file_ids=${one.id}&${one.url.split('?')[1]}`,
    ];
    for (const link of forged) expect([link, ...(await refusalOf(link))]).toEqual([link, 403, 'invalid_signature']);
    expect((await fetch(`${url}&utm_source=mail`, { method: 'HEAD' })).status).toBe(200);
  });

  it('leaves out what is deleted before it is read, under the same names', async () => {
    const { api } = await tenant();
    const ids = [(await outputOf(api)).id, (await outputOf(api)).id];
    const { url, bytes } = (await archive(api, ids)).body;
    await api.call('DELETE', `/v1/files/${ids[0]}`);
    const reply = await fetch(url);
    const zip = Buffer.from(await reply.arrayBuffer());
    expect([...entriesOf(zip).keys()]).toEqual(['002-A-cat-on-a-roof.png']);
    expect(reply.headers.get('content-length')).toBe(String(zip.length));
    expect(zip.length).toBeLessThan(bytes);
    await api.call('DELETE', `/v1/files/${ids[1]}`);
    expect(await refusalOf(url)).toEqual([410, 'file_expired']);
  });

  it('is free again when its reader hangs up', async () => {
    const { api } = await tenant();
    const { url } = (await archive(api, [(await outputOf(api, { resolution: '4K', model: 'nano-banana-pro' })).id]))
      .body;
    const hangUp = () =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = get(url, (response) => {
          response.once('data', () => request.destroy());
          response.once('close', () => resolve(response.statusCode)).on('error', () => {});
        }).on('error', reject);
      });
    // Three times as many as may be read at once. The service may notice a hang-up after the next request.
    for (let n = 0; n < 12; n += 1) await eventually('a free place', async () => (await hangUp()) === 200);
    await eventually('a free place', async () => {
      const reply = await fetch(url);
      return (await reply.arrayBuffer()).byteLength > 1000 && reply.ok;
    });
  });

  it('needs tasks:read, no cookie counts, and is the same over GraphQL', async () => {
    const { key, api } = await tenant();
    const { id } = await outputOf(api);
    const writer = await tenant({ scopes: ['generations:write'] });
    expect(codeOf(await archive(writer.api, [id]))).toEqual([403, 'insufficient_scope', null]);
    const browser = new Browser(service.baseUrl);
    await browser.signIn({ api_key: key });
    const byCookie = await browser.call<ErrorBody>('POST', '/v1/files/archive', { file_ids: [id] });
    expect(codeOf(byCookie)).toEqual([401, 'missing_api_key', null]);
    const graphql = new GraphqlClient(service.baseUrl, key);
    const document = `mutation { createArchive(fileIds: ["${id}"]) { object url bytes expiresAt } }`;
    const { data } = await graphql.ask<{ createArchive: ArchiveBody }>(document);
    const { bytes, url } = (await archive(api, [id])).body;
    expect(data.createArchive).toMatchObject({ object: 'archive', bytes, url });
    const none = await graphql.ask('mutation { createArchive(fileIds: []) { url } }');
    expect(none.errors![0]!.extensions.code).toBe('invalid_value');
  });
});
