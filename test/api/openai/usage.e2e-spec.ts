// Own settings: a stub is OpenAI.
import OpenAI, { toFile } from 'openai';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
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
});
