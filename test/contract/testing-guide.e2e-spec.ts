import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { startApp, type TestApp } from '../support/app.ts';

const guide = readFileSync(new URL('../../docs/guides/testing.md', import.meta.url), 'utf8');
/** The blocks that the page marks to be run as they are: each fails when the service does not do what the page says. */
const commands = [...guide.matchAll(/^```sh run\n(.*?)^```$/gms)].map(([, command]) => command!);

let service: TestApp;
beforeAll(async () => void (service = await startApp()));
afterAll(() => service.close());

describe('docs/guides/testing.md', () => {
  it('has commands', () => expect(commands).toHaveLength(4));

  it.each(commands)('runs %s', async (command) => {
    const env = { PATH: process.env.PATH, DARKROOM_URL: service.baseUrl, DARKROOM_API_KEY: service.api.key! };
    const { stdout } = await promisify(execFile)('bash', ['-o', 'pipefail', '-ec', command], { env });
    expect(stdout).toContain('"object":"task"');
  });
});
