// Own settings: credentials that the stubs of the providers refuse, and a log to read.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskBody } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { FalStub } from '../support/stubs/fal.stub.ts';
import { GeminiStub } from '../support/stubs/gemini.stub.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { ReplicateStub } from '../support/stubs/replicate.stub.ts';
import { eventually } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

interface LogLine {
  event: string;
  task_id?: string;
  [field: string]: unknown;
}

const WRONG_KEY = 'sk-not-the-right-one-4471';

describe('a key that the provider refuses', () => {
  const stubs = [new OpenaiStub(), new GeminiStub(), new ArkStub(), new FalStub(), new ReplicateStub()] as const;
  const [openai, gemini, ark, fal, replicate] = stubs;
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-wrong-key-'));
  let service: OwnService;
  let receiver: Receiver;
  beforeAll(async () => {
    await Promise.all(stubs.map((stub) => stub.start()));
    receiver = await Receiver.start();
    const env: Record<string, string> = { LOG_LEVEL: 'info', PROVIDER_POLL_INTERVAL_MS: '20' };
    env.PROVIDERS = join(folder, 'providers.yaml');
    for (const name of ['FIRST', 'GEMINI', 'ARK', 'FAL', 'REPLICATE']) env[`${name}_SECRET`] = WRONG_KEY;
    env.SECOND_SECRET = openai.key;
    writeFileSync(
      env.PROVIDERS,
      `models:
  gpt-image-2:
    - { provider: openai, model: gpt-image-2, base_url: "${openai.baseUrl}", credential: FIRST_SECRET }
    - { provider: openai, model: gpt-image-2, base_url: "${openai.baseUrl}", credential: SECOND_SECRET }
  nano-banana-2: [{ provider: gemini, model: nano, base_url: "${gemini.baseUrl}", credential: GEMINI_SECRET }]
  nano-banana-pro: [{ provider: fal, model: fal-ai/nano-banana-pro, base_url: "${fal.origin}", credential: FAL_SECRET }]
  seedance-2: [{ provider: ark, model: seedance, base_url: "${ark.baseUrl}", credential: ARK_SECRET }]
  sora-2:
    - { provider: replicate, model: bytedance/seedance-2.0, base_url: "${replicate.baseUrl}", credential: REPLICATE_SECRET }`,
    );
    service = await startOwnService(env);
    await new WebhookClient(service.api).endpoint(receiver.url);
  });
  afterAll(async () => {
    await service?.close();
    await Promise.all([...stubs, receiver].map((server) => server.stop()));
    rmSync(folder, { recursive: true });
  });

  const ended = async (model: string): Promise<TaskBody> => {
    const { body } = await service.api.create({ model, prompt: 'A heron at dawn' });
    return service.api.untilFinal(body.task_id);
  };
  /** The line in the log, which is written in batches. */
  const logged = (taskId: string, event: string) =>
    eventually(`${event} in the log`, async () => {
      const lines = service.output().split('\n').filter((line) => line.startsWith('{') && line.endsWith('}')); // prettier-ignore
      return lines.map((line) => JSON.parse(line) as LogLine).find((line) => line.event === event && line.task_id === taskId); // prettier-ignore
    });

  it.each([
    ['nano-banana-2', 'gemini', 'GEMINI_SECRET', 400], // Gemini does not use 401 for this
    ['nano-banana-pro', 'fal', 'FAL_SECRET', 401],
    ['seedance-2', 'ark', 'ARK_SECRET', 401],
    ['sora-2', 'replicate', 'REPLICATE_SECRET', 401],
  ])(
    '%s fails with provider_rejected at its only provider %s, and only the log has the reason',
    async (model, provider, credential, status) => {
      const task = await ended(model);
      const error = {
        code: 'provider_rejected',
        message: 'The provider did not accept this request.',
        retryable: false,
      };
      expect(task).toMatchObject({ status: 'failed', error });

      const shown = [JSON.stringify(task), await byGraphql(task.task_id), await byStream(task.task_id)];
      shown.push(await byWebhook(task.task_id));
      for (const text of shown) {
        expect(text).toMatch(/provider_rejected/i); // in capitals over GraphQL
        expect(text).not.toMatch(
          /\b(openai|gemini|google|ark|fal|replicate|seedance-2\.0)\b|127\.0\.0\.1|_SECRET|\b40[01]\b/i,
        );
        expect(text).not.toContain(WRONG_KEY);
      }

      const passed = await logged(task.task_id, 'binding.skipped');
      expect(passed).toMatchObject({ provider, credential, code: 'provider_rejected', reason: { provider, status } });
      const failed = await logged(task.task_id, 'task.run_failed');
      expect(failed).toMatchObject({ model, provider, credential, code: 'provider_rejected', cause: { status } });
      expect(service.output()).not.toContain(WRONG_KEY);
    },
  );

  it('uses the next binding, and the log names the refused credential', async () => {
    const task = await ended('gpt-image-2');
    expect(task.status).toBe('succeeded');
    const passed = await logged(task.task_id, 'binding.skipped');
    expect(passed).toMatchObject({ provider: 'openai', credential: 'FIRST_SECRET', reason: { status: 401 } });
    expect(service.output()).not.toContain(WRONG_KEY);
  });

  async function byGraphql(taskId: string): Promise<string> {
    const client = new GraphqlClient(service.api.baseUrl, service.api.key);
    const query = 'query ($id: String!) { task(taskId: $id) { status error { code message param retryable } } }';
    return JSON.stringify(await client.ask(query, { id: taskId }));
  }

  async function byStream(taskId: string): Promise<string> {
    const { baseUrl, key } = service.api;
    const reader = await EventReader.open(baseUrl, `/v1/tasks/${taskId}/events`, key as string);
    await reader.ended;
    return JSON.stringify(reader.events);
  }

  const byWebhook = (taskId: string) =>
    eventually('the webhook', async () => receiver.received.find(({ event }) => event.data.task_id === taskId)?.body);
});
