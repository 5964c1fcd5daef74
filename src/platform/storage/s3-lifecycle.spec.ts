import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { writeLifecycle } from './s3-lifecycle.ts';

const FOREIGN = '<Rule><ID>logs</ID><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>3</Days></Expiration></Rule>'; // prettier-ignore

let server: Server;
/** The rules of the bucket: null without any. */
let rules: string | null;
let refusal: number | null;

beforeAll(() => Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }));
beforeEach(async () => {
  [rules, refusal] = [null, null];
  server = createServer(async (request, response) => {
    const body = await text(request);
    if (refusal !== null) return response.writeHead(refusal).end('<Error><Code>NotImplemented</Code></Error>');
    if (request.method === 'PUT') rules = body;
    else if (rules === null)
      return response.writeHead(404).end('<Error><Code>NoSuchLifecycleConfiguration</Code></Error>');
    return response.end(rules);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const write = (days = 7) =>
  writeLifecycle(`s3://results?prefix=room&endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`, days);
const written = () => [...rules!.matchAll(/<Rule>.*?<\/Rule>/gs)].map(([rule]) => rule);

describe('the lifecycle of a bucket', () => {
  it('removes files of tasks two days after the purge should have, and unfinished uploads', async () => {
    expect(await write(2.5)).toBe('files of tasks go after 5 days, parts of unfinished uploads after 2');
    const [files, uploads, ...others] = written();
    expect(others).toEqual([]);
    expect(files).toMatch(/<Days>5<.*<Prefix>room\/task_</s);
    expect(uploads).toMatch(/<Prefix>room\/<.*<DaysAfterInitiation>2</s);
    for (const rule of [files, uploads]) expect(rule).toContain('<Status>Enabled</Status>');
  });

  it('replaces its own rules and keeps those of others', async () => {
    rules = `<LifecycleConfiguration>${FOREIGN}</LifecycleConfiguration>`;
    await write(7);
    await write(30);
    expect(written()).toHaveLength(3);
    expect(written()[0]).toMatch(/<Days>3<.*<ID>logs</s);
    expect(written()[1]).toContain('<Days>32</Days>');
  });

  it('is told as missing where the server has none', async () => {
    refusal = 501;
    await expect(write()).rejects.toThrow('this S3 server has no lifecycle rules');
  });
});
