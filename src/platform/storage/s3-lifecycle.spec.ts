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

const EARLIER = '<Rule><ID>darkroom files of tasks room/</ID><Filter><Prefix>room/task_</Prefix></Filter><Status>Enabled</Status><Expiration><Days>9</Days></Expiration></Rule>'; // prettier-ignore

const write = () =>
  writeLifecycle(`s3://results?prefix=room&endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`);
const written = () => [...rules!.matchAll(/<Rule>.*?<\/Rule>/gs)].map(([rule]) => rule);

describe('the lifecycle of a bucket', () => {
  it('removes the parts of unfinished uploads, and no file', async () => {
    expect(await write()).toBe('parts of unfinished uploads go after 2 days, files of tasks by the service alone');
    const [uploads, ...others] = written();
    expect(others).toEqual([]);
    expect(uploads).toMatch(/<Prefix>room\/<.*<DaysAfterInitiation>2</s);
    expect(uploads).toContain('<Status>Enabled</Status>');
  });

  it('keeps the rules of others, and removes the one that would delete what is kept', async () => {
    rules = `<LifecycleConfiguration>${FOREIGN}${EARLIER}</LifecycleConfiguration>`;
    await write();
    await write();
    expect(written()).toHaveLength(2);
    expect(written()[0]).toMatch(/<Days>3<.*<ID>logs</s);
    expect(written()[1]).not.toContain('task_');
  });

  it('is told as missing where the server has none', async () => {
    refusal = 501;
    await expect(write()).rejects.toThrow('this S3 server has no lifecycle rules');
  });
});
