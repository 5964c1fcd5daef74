import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runBatch } from '../../src/cli/commands/batch.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { aFailure } from '../support/clients/api.ts';
import { linesOf } from '../support/clients/batches.ts';

describe('darkroom batch', () => {
  let service: SharedService;
  let folder: string;
  beforeAll(async () => {
    service = await joinService();
    folder = await mkdtemp(join(tmpdir(), 'batch-'));
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  const run = async (bodies: object[], more: object = {}) => {
    const file = join(folder, 'requests.jsonl');
    const line = (body: object, nth: number) =>
      JSON.stringify({ custom_id: `n${nth}`, method: 'POST', url: '/v1/generations', body });
    await writeFile(file, bodies.map(line).join('\n'));
    const out = new PassThrough();
    const printed = text(out);
    const options = {
      endpoint: '/v1/generations',
      priority: 'low' as const,
      url: service.baseUrl,
      key: service.api.key!,
    };
    const failure = await runBatch(file, { ...options, ...more }, out).then(
      () => null,
      (error: Error) => error.message,
    );
    out.end();
    return { failure, results: linesOf(await printed) };
  };

  it('prints the results of every item, and fails when one did not succeed', async () => {
    const { failure, results } = await run([aFailure, { model: 'gpt-image-2', prompt: 'A cat' }]);
    expect(failure).toBe('1 of 2 items did not succeed.');
    expect(results.map(({ custom_id, error }) => [custom_id, error?.code])).toEqual([
      ['n0', 'content_policy_violation'],
      ['n1', undefined],
    ]);
  });

  it('prints why a batch is refused, or skips the invalid items', async () => {
    const refused = await run([aFailure, {}]);
    expect(refused.failure).toContain('items are invalid');
    expect(refused.results).toEqual([]);
    const skipped = await run([aFailure, {}], { skipInvalid: true });
    expect(skipped.results.map(({ error }) => error?.code)).toEqual([
      'content_policy_violation',
      'missing_required_parameter',
    ]);
  });
});
