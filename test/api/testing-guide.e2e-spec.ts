import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { blocksOf } from '../../scripts/docs-check/blocks.ts';
import { type SharedService, joinService } from '../support/service.ts';

/**
 * After the block that starts a service, which `npm run docs:check` runs. Each fails when the service does not do what
 * the page says.
 */
const [, ...commands] = blocksOf(new URL('../../', import.meta.url).pathname, 'docs/guides/testing.md')
  .filter(({ language }) => language === 'sh')
  .map(({ text }) => text);

let service: SharedService;
beforeAll(async () => void (service = await joinService()));
afterAll(() => service.close());

describe('docs/guides/testing.md', () => {
  it('has commands', () => expect(commands).toHaveLength(4));

  it.each(commands)('runs %s', async (command) => {
    const env = { PATH: process.env.PATH, DARKROOM_URL: service.baseUrl, DARKROOM_API_KEY: service.api.key! };
    const { stdout } = await promisify(execFile)('bash', ['-o', 'pipefail', '-ec', command], { env });
    expect(stdout).toContain('"object":"task"');
  });
});
