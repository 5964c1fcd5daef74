import OpenAI from 'openai';
import sharp from 'sharp';
import { type SharedService, joinService } from '../../support/service.ts';

/** The requests of docs/guides/chat-apps.md, field by field as these apps send them. */

let service: SharedService;
beforeAll(async () => void (service = await joinService()));
afterAll(() => service.close());

interface Images {
  data: { b64_json: string }[];
}

const headers = () => ({ authorization: `Bearer ${service.api.key}` });
const isPng = ({ data: [first] }: Images) => Buffer.from(first!.b64_json, 'base64').subarray(1, 4).toString() === 'PNG';
const picture = () =>
  sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer();

async function send(path: string, body: object | FormData): Promise<Images> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${service.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: isForm ? headers() : { ...headers(), 'content-type': 'application/json' },
    body: isForm ? body : JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Images;
}

async function form(fields: Record<string, string>, images: string[]): Promise<FormData> {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  for (const name of images) data.append(name, new Blob([await picture()], { type: 'image/png' }), 'image.png');
  return data;
}

describe('Open WebUI', () => {
  it.each([
    ['of our model', { model: 'gpt-image-2', size: '1024x1024' }],
    ['of a model of its list', { model: 'dall-e-3', size: '1024x1024', response_format: 'b64_json' }],
    ['of a size of its own', { model: 'nano-banana-2', size: '512x512', response_format: 'b64_json' }],
  ])('gets a picture %s', async (_what, chosen) => {
    expect(isPng(await send('/images/generations', { prompt: 'A lighthouse', n: 1, ...chosen }))).toBe(true);
  });

  it.each([
    ['one picture', ['image']],
    ['several pictures', ['image[]', 'image[]']],
  ])('edits %s', async (_what, images) => {
    const fields = { model: 'nano-banana-pro', prompt: 'In fog', n: '1', response_format: 'b64_json' };
    expect(isPng(await send('/images/edits', await form(fields, images)))).toBe(true);
  });
});

describe('LibreChat', () => {
  const openai = () => new OpenAI({ apiKey: service.api.key!, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
  const asked = { prompt: 'A lighthouse', n: 1, output_format: 'png', quality: 'auto', size: 'auto' } as const;

  it('gets a picture', async () => {
    const answer = await openai().images.generate({ model: 'gpt-image-2', background: 'auto', ...asked });
    expect(isPng(answer as Images)).toBe(true);
  });

  it('edits a picture', async () => {
    const fields = { model: 'gpt-image-2', prompt: 'In fog', quality: 'auto', size: 'auto' };
    expect(isPng(await send('/images/edits', await form(fields, ['image[]'])))).toBe(true);
  });

  it('learns why a transparent background and its own model are refused', async () => {
    const ask = (more: { model: string; background: 'auto' | 'transparent' }) =>
      openai().images.generate({ ...asked, ...more });
    await expect(ask({ model: 'gpt-image-2', background: 'transparent' })).rejects.toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param: 'background',
    });
    await expect(ask({ model: 'gpt-image-2.5-flare', background: 'auto' })).rejects.toMatchObject({
      code: 'model_not_found',
    });
  });
});
