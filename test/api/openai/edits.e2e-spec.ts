import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import sharp from 'sharp';
import { type SharedService, joinService } from '../../support/service.ts';
import type { ErrorBody, TaskBody } from '../../support/clients/api.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';
import { cutFetch } from './cut-fetch.ts';

const EDITS = '/v1/images/edits';
const photo = (red: number) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: { r: red, g: 90, b: 30 } } })
    .png()
    .toBuffer();
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('edits of the openai client', () => {
  let service: SharedService;
  let openai: OpenAI;
  let photos: Buffer[];
  beforeAll(async () => {
    service = await joinService();
    openai = openaiClient(service);
    photos = await Promise.all(Array.from({ length: 17 }, (_, at) => photo(at * 15)));
  });
  afterAll(() => service.close());

  const file = (at: number) => toFile(photos[at]!, `${at}.png`, { type: 'image/png' });
  const files = (count: number) => Promise.all(Array.from({ length: count }, (_, at) => file(at)));
  /** The hashes of the references of a task, in order. */
  async function referencesOf(taskId: string): Promise<string[]> {
    const { body } = await service.api.get<TaskBody>(`/v1/tasks/${taskId}`);
    const ids = (body.input as { reference_images: string[] }).reference_images;
    const answers = await Promise.all(ids.map((id) => service.api.get<{ sha256: string }>(`/v1/files/${id}`)));
    return answers.map(({ body: found }) => found.sha256);
  }
  const uploads = () =>
    queryOnce(service.database.url, 'select id from uploads where deleted_at is null and api_key_id = $1', [
      service.keyId,
    ]);
  const send = (form: FormData | string, headers: object = {}) =>
    fetch(new URL(EDITS, service.baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${service.api.key}`, ...headers },
      body: form,
    });
  const formOf = (...parts: [string, string | Buffer][]) => {
    const form = new FormData();
    for (const [name, value] of parts) {
      if (typeof value === 'string') form.append(name, value);
      else form.append(name, new Blob([new Uint8Array(value)], { type: 'image/png' }), 'x.png');
    }
    return form;
  };

  it.each([1, 16])('take %i files as references, in order', async (count) => {
    const image = count === 1 ? await file(0) : await files(count);
    const { data, response } = await openai.images
      .edit({
        model: 'gpt-image-2',
        image,
        prompt: 'Make it blue',
        n: 1,
        output_format: 'webp',
        input_fidelity: 'high',
      })
      .withResponse();
    expect(data).toMatchObject({
      output_format: 'webp',
      approximations: [{ param: 'input_fidelity', requested: 'high', used: 'auto' }],
    });
    const bytes = Buffer.from(data.data![0]!.b64_json!, 'base64');
    expect((await sharp(bytes).metadata()).format).toBe('webp');
    expect(await referencesOf(response.headers.get('task-id')!)).toEqual(photos.slice(0, count).map(sha256));
  });

  it.each([['image'], ['image[]'], ['image[0]']])(
    'take files named %s, and text parts as the type of their field',
    async (name) => {
      const names = name === 'image[0]' ? ['image[1]', 'image[0]'] : [name, name];
      const reply = await send(formOf(['prompt', 'Make it blue'], ['n', '2'], ['metadata[order]', '7'], ['size', '1024x1024'], ['model', ''], ['quality', ''], [names[0]!, photos[1]!], [names[1]!, photos[0]!])); // prettier-ignore
      const body = (await reply.json()) as { data: object[]; task_id: string };
      expect([reply.status, body.data?.length]).toEqual([200, 2]);
      const order = name === 'image[0]' ? [0, 1] : [1, 0];
      expect(await referencesOf(body.task_id)).toEqual(order.map((at) => sha256(photos[at]!)));
      const { body: task } = await service.api.get<TaskBody>(`/v1/tasks/${body.task_id}`);
      expect(task.metadata).toEqual({ order: '7' });
    },
  );

  it('take links, data: URLs and ids of files as JSON', async () => {
    const upload = await openai.files.create({ file: await file(3), purpose: 'vision' });
    const data = `data:image/png;base64,${photos[4]!.toString('base64')}`;
    const { status, body } = await service.api.call<{ task_id: string } & ErrorBody>('POST', EDITS, {
      prompt: 'Make it blue',
      images: [{ file_id: upload.id }, { image_url: data }],
    });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(await referencesOf(body.task_id)).toEqual([sha256(photos[3]!), sha256(photos[4]!)]);
  });

  it('stream with events of their own name', async () => {
    const stream = await openai.images.edit({ image: await file(0), prompt: 'Make it blue', stream: true });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['image_edit.completed']);
  });

  it('take the first frame of a video as a file', async () => {
    const create = { prompt: 'x #hang', input_reference: await file(5) } as never;
    const video = await openai.videos.create(create);
    const { body: task } = await service.api.get<TaskBody>(`/v1/tasks/${video.id}`);
    expect(task.input).toMatchObject({
      reference_mode: 'first_last',
      first_frame_image_url: expect.stringMatching(/^file_/),
    });
    await openai.videos.delete(video.id);
    const seedance = await openai.videos.create({ ...(create as object), model: 'seedance-2' } as never);
    const { body: other } = await service.api.get<TaskBody>(`/v1/tasks/${seedance.id}`);
    expect(other.input).toMatchObject({ reference_mode: 'first_frame' });
    await openai.videos.delete(seedance.id);
  });

  it('that are cut and repeated buy once and store their files once', async () => {
    const before = (await uploads()).length;
    const prompt = 'Make it red #delay:0.4';
    const tasksOf = () =>
      queryOnce<{ status: string }>(service.database.url, `select status from tasks where input->>'prompt' = $1`, [
        prompt,
      ]);
    const reach = () => eventually('a running task', async () => (await tasksOf())[0]?.status === 'running');
    const retrying = openaiClient(service, { maxRetries: 2, fetch: cutFetch({ reach }) });
    const { response } = await retrying.images.edit({ image: await file(6), prompt }).withResponse();
    expect(response.headers.get('idempotent-replayed')).toBe('true');
    expect(await tasksOf()).toHaveLength(1);
    expect((await uploads()).length).toBe(before + 1);
  });

  it.each([
    ['no image', [['prompt', 'x']], 'missing_required_parameter', 'image'],
    [
      'two masks',
      [
        ['prompt', 'x'],
        ['image', 0],
        ['mask', 1],
        ['mask', 1],
      ],
      'invalid_value',
      'mask',
    ],
    [
      'another file',
      [
        ['prompt', 'x'],
        ['image', 0],
        ['photo', 1],
      ],
      'unknown_parameter',
      'photo',
    ],
    [
      'references beside the images',
      [
        ['prompt', 'x'],
        ['image', 0],
        ['reference_images', 'x'],
      ],
      'unsupported_parameter',
      'reference_images',
    ],
    [
      'an unknown field',
      [
        ['prompt', 'x'],
        ['image', 0],
        ['foo', '1'],
      ],
      'unknown_parameter',
      'foo',
    ],
    [
      'a field twice',
      [
        ['prompt', 'x'],
        ['prompt', 'y'],
        ['image', 0],
      ],
      'invalid_type',
      'prompt',
    ],
    [
      'a bad number',
      [
        ['prompt', 'x'],
        ['n', 'two'],
        ['image', 0],
      ],
      'invalid_type',
      'n',
    ],
    ['no prompt', [['image', 0]], 'missing_required_parameter', 'prompt'],
    [
      'a file that is no picture',
      [
        ['prompt', 'x'],
        ['image[0]', 0],
        ['image[1]', -1],
      ],
      'invalid_image',
      'image[1]',
    ],
    [
      '15 pictures for a nano-banana',
      [['prompt', 'x'], ['model', 'nano-banana-2'], ...Array.from({ length: 15 }, (_, at) => ['image[]', at])],
      'too_many_items',
      'image',
    ],
    [
      '17 pictures',
      [['prompt', 'x'], ...Array.from({ length: 17 }, (_, at) => ['image[]', at])],
      'invalid_multipart',
      null,
    ],
  ] as [string, [string, string | number][], string, string | null][])(
    'refuse %s, and keep nothing',
    async (_what, parts, code, param) => {
      // prettier-ignore
      const before = (await uploads()).length;
      const filled = parts.map(([name, value]): [string, string | Buffer] => [name, typeof value === 'string' ? value : (photos[value] ?? Buffer.from('no picture'))]); // prettier-ignore
      const reply = await send(formOf(...filled));
      const { error } = (await reply.json()) as ErrorBody;
      expect({ status: reply.status, code: error.code, param: error.param }).toEqual({ status: 400, code, param });
      expect((await uploads()).length).toBe(before);
      const scratch = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`darkroom-upload-${process.pid}-`));
      await eventually('no scratch file', async () => scratch().length === 0);
    },
  );

  it.each([
    [{ prompt: 'x' }, 'missing_required_parameter', 'images'],
    [{ prompt: 'x', images: 'a' }, 'invalid_type', 'images'],
    [{ prompt: 'x', images: ['a'] }, 'invalid_type', 'images[0]'],
    [{ prompt: 'x', images: [{ image_url: 'nope' }] }, 'invalid_url', 'images[0].image_url'],
    [{ prompt: 'x', images: [{ file_id: 'file_01jd8e5t9kf3qs7m2v4xw6yzab' }] }, 'file_not_found', 'images[0].file_id'],
  ])('refuse the JSON body %j as %s', async (body, code, param) => {
    const { status, body: answer } = await service.api.call<ErrorBody>('POST', EDITS, body);
    expect({ status, code: answer.error.code, param: answer.error.param }).toEqual({ status: 400, code, param });
  });

  it('work with the AI SDK, as generations do', async () => {
    const provider = createOpenAICompatible({
      name: 'darkroom',
      baseURL: `${service.baseUrl}/v1`,
      apiKey: service.api.key!,
    });
    const model = provider.imageModel('gpt-image-2');
    const { images } = await generateImage({ model, prompt: 'A lighthouse', n: 2, size: '1024x1024' });
    expect(images).toHaveLength(2);
    const edited = await generateImage({ model, prompt: { text: 'Make it blue', images: [photos[0]!, photos[1]!] } });
    expect(edited.image.mediaType).toBe('image/png');
  });
});
