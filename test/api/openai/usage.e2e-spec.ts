// Own settings: a stub is OpenAI.
import { existsSync, readFileSync } from 'node:fs';
import OpenAI, { toFile } from 'openai';
import { aCat } from '../../support/clients/api.ts';
import { pauseModel } from '../../support/clients/pauses.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';

const TOKENS = { input_tokens: 12, output_tokens: 4160, total_tokens: 4172 };
const OF_TEXT = { ...TOKENS, input_tokens_details: { image_tokens: 0, text_tokens: 12 } };
const UNKNOWN = { image_tokens: 0, text_tokens: 0 };
const NONE = { input_tokens: 0, output_tokens: 0, total_tokens: 0, input_tokens_details: UNKNOWN };

describe('the usage that the openai client reads', () => {
  const upstream = new OpenaiStub();
  let service: OwnService;
  let openai: OpenAI;
  beforeAll(async () => {
    await upstream.start();
    service = await startOwnService({ OPENAI_API_KEY: upstream.key, OPENAI_BASE_URL: upstream.baseUrl });
    openai = openaiClient(service);
  });
  afterAll(async () => {
    await service.close();
    await upstream.stop();
  });

  it.each(['b64_json', 'url'] as const)('is that of the provider, as %s', async (response_format) => {
    const answer = await openai.images.generate({ prompt: 'A boat', response_format });
    expect(answer.usage).toEqual(OF_TEXT);
  });

  it('says of an edit nothing that is not known', async () => {
    const png = await openai.images.generate({ prompt: 'A boat' });
    const image = await toFile(Buffer.from(png.data![0]!.b64_json!, 'base64'), 'a.png', { type: 'image/png' });
    const { usage } = await openai.images.edit({ image, prompt: 'At night' });
    expect(usage).toEqual({ ...TOKENS, input_tokens_details: UNKNOWN });
  });

  it('adds up over the events of a stream', async () => {
    const stream = await openai.images.generate({ prompt: 'A boat', n: 2, stream: true });
    const usages: unknown[] = [];
    for await (const event of stream) usages.push((event as OpenAI.ImageGenCompletedEvent).usage);
    expect(usages).toEqual([NONE, OF_TEXT]);
  });

  it('is absent where the provider reports no tokens', async () => {
    const answer = await openai.images.generate({ model: 'nano-banana-2', prompt: 'A boat' });
    expect(answer).not.toHaveProperty('usage');
  });

  it('comes with a picture whose early stages are stored while the rest of its stream is still on the way', async () => {
    const rest = Promise.withResolvers<void>();
    upstream.plan(/images\/generations/, { restAfter: rest.promise });
    const { submits } = upstream;
    const paused = await pauseModel(service.api, 'gpt-image-2');
    const { task_id: id } = (await service.api.create(aCat)).body;
    // Not through a stream, which asks for a format: the stub's stages are no pictures.
    await queryOnce(service.database.url, 'update tasks_live set partial_images = 2 where id = $1', [id]);
    await paused.end();
    const stage = `${service.env.DATA_DIR}/files/${id}/partial-1-1`;
    await eventually('the second stage', async () => existsSync(`${stage}.stored`));
    expect(readFileSync(stage, 'utf8')).toBe('stage 1');
    const shown = await eventually('the progress', async () => {
      const { body } = await service.api.get(`/v1/tasks/${id}`);
      return body.progress > 0 && body;
    });
    expect(shown.status).toBe('running');
    rest.resolve();
    expect(await service.api.untilFinal(id)).toMatchObject({
      status: 'succeeded',
      usage: { tokens: { input: 12, output: 4160 } },
    });
    expect(upstream.submits).toBe(submits + 1);
  });
});
