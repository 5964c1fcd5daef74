import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import OpenAI from 'openai';
import sharp from 'sharp';
import { joinSecondProcess, joinService, type SharedService } from '../../support/service.ts';
import { pauseModel } from '../../support/clients/pauses.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';

describe('a stream of pictures', () => {
  let service: SharedService;
  let openai: OpenAI;
  /** Talks to another process than the one that makes the pictures. */
  let elsewhere: OpenAI;
  beforeAll(async () => {
    service = await joinService();
    openai = openaiClient(service);
    elsewhere = openaiClient({ api: service.api, baseUrl: await joinSecondProcess(service) });
  });
  afterAll(() => service.close());

  it('sends the headers at once, and an event for each picture in order', async () => {
    const paused = await pauseModel(service.api, 'gpt-image-2');
    const { data: stream, response } = await openai.images
      .generate({ prompt: 'A boat', n: 2, size: '1536x1024', stream: true, safety_identifier: 's-1' })
      .withResponse();
    await paused.end(); // only now can the task run
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events: OpenAI.ImageGenCompletedEvent[] = [];
    for await (const event of stream) events.push(event as OpenAI.ImageGenCompletedEvent);
    expect(events).toHaveLength(2);
    for (const [index, { b64_json, ...event }] of events.entries()) {
      expect(event).toEqual({
        type: 'image_generation.completed',
        background: 'opaque',
        created_at: expect.any(Number),
        output_format: 'png',
        quality: 'auto',
        size: '1536x1024',
        usage: {
          input_tokens: 0,
          input_tokens_details: { image_tokens: 0, text_tokens: 0 },
          output_tokens: 0,
          total_tokens: 0,
        },
        index,
        seed: null,
        safety_identifier: 's-1',
        task_id: response.headers.get('task-id'),
      });
      expect(await sharp(Buffer.from(b64_json, 'base64')).metadata()).toMatchObject({ width: 1536, height: 1024 });
    }
    const delivered = 'select 1 from calls where task_id = $1 and delivered_at is not null';
    const rows = () => queryOnce(service.database.url, delivered, [response.headers.get('task-id')]);
    await eventually('the delivery', async () => (await rows()).length > 0);
  });

  const filesOf = (taskId: string) => {
    const folder = `${service.env.DATA_DIR}/files/${taskId}`;
    return existsSync(folder) ? readdirSync(folder).toSorted() : [];
  };
  const streamOf = async (body: object, client = openai) => {
    const { data, response } = await client.images
      .generate({ prompt: 'A harbour', stream: true, ...body } as OpenAI.ImageGenerateParamsStreaming)
      .withResponse();
    return { stream: data, taskId: response.headers.get('task-id')! };
  };
  /** The partial pictures of a stream, and the pictures, both as they were sent. */
  async function read(stream: AsyncIterable<OpenAI.ImageGenStreamEvent>) {
    const partials: OpenAI.ImageGenPartialImageEvent[] = [];
    const pictures: OpenAI.ImageGenCompletedEvent[] = [];
    for await (const event of stream) {
      if (event.type === 'image_generation.completed') pictures.push(event);
      else partials.push(event);
      if (event.type !== 'image_generation.completed') expect(pictures).toEqual([]);
    }
    return { partials, pictures };
  }

  it.each([1, 3])('shows %i partial pictures of the same size on the way, in each process', async (partial_images) => {
    const { stream } = await streamOf({ prompt: `A harbour ${partial_images}`, partial_images }, elsewhere);
    const { partials, pictures } = await read(stream);
    expect([partials.length, pictures.length]).toEqual([partial_images, 1]);
    for (const [at, partial] of partials.entries()) {
      expect(partial).toMatchObject({ partial_image_index: at, output_format: 'png', background: 'opaque' });
      const bytes = Buffer.from(partial.b64_json, 'base64');
      expect(await sharp(bytes).metadata()).toMatchObject({ width: 1024, height: 1024, format: 'png' });
    }
    const different = new Set([...partials, ...pictures].map(({ b64_json }) => b64_json));
    expect(different.size).toBe(partial_images + 1);
  });

  it('shows partial pictures in the requested file format', async () => {
    const { stream } = await streamOf({ output_format: 'webp', output_compression: 80, partial_images: 2 });
    const { partials } = await read(stream);
    expect(partials).toHaveLength(2);
    for (const { b64_json, output_format } of partials) {
      expect([output_format, (await sharp(Buffer.from(b64_json, 'base64')).metadata()).format]).toEqual([
        'webp',
        'webp',
      ]);
    }
  });

  it('makes no partial pictures where none are wanted, of several pictures, and of films', async () => {
    const [none, several] = [await streamOf({}), await streamOf({ n: 2, partial_images: 3 })];
    expect((await read(none.stream)).partials).toEqual([]);
    expect(await read(several.stream)).toMatchObject({ partials: [], pictures: [{}, {}] });
    const paused = await pauseModel(service.api, 'sora-2');
    const film = (await service.api.create({ model: 'sora-2', prompt: 'Waves', resolution: '720P', duration: 1 })).body;
    await queryOnce(service.database.url, 'update tasks_live set partial_images = 3 where id = $1', [film.task_id]); // no request can
    await paused.end();
    expect(await service.api.untilFinal(film.task_id)).toMatchObject({ status: 'succeeded' });
    for (const id of [none.taskId, several.taskId, film.task_id]) {
      expect(filesOf(id).filter((name) => name.startsWith('partial'))).toEqual([]);
    }
  });

  it('has partial pictures that are deleted with the files of their task', async () => {
    const { stream, taskId } = await streamOf({ partial_images: 2 });
    await read(stream);
    expect(filesOf(taskId)).toEqual([
      '1-0.png',
      'partial-1-0',
      'partial-1-0.stored',
      'partial-1-1',
      'partial-1-1.stored',
    ]);
    expect((await service.api.call('DELETE', `/v1/tasks/${taskId}`)).status).toBe(200);
    expect(filesOf(taskId)).toEqual([]);
  });

  it('leaves out partial pictures that cannot be stored; the picture is made', async () => {
    const paused = await pauseModel(service.api, 'gpt-image-2');
    const { stream, taskId } = await streamOf({ partial_images: 3 });
    const inTheWay = ['partial-1-0', 'partial-1-1', 'partial-1-2'];
    for (const name of inTheWay) await mkdir(`${service.env.DATA_DIR}/files/${taskId}/${name}`, { recursive: true });
    await paused.end();
    expect(await read(stream)).toMatchObject({ partials: [], pictures: [{}] });
    expect(filesOf(taskId)).toEqual(['1-0.png', ...inTheWay]);
  });

  it('ends with an error that makes the client throw, in its own words', async () => {
    const stream = await openai.images.generate({ prompt: 'x #fail:content_policy_violation', stream: true });
    const error = await read(stream).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ code: 'content_policy_violation', type: 'invalid_request_error' });
  });

  it('answers faults of the request before the stream begins', async () => {
    await expect(openai.images.generate({ prompt: '', stream: true })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });

  it('is joined by the retry of a call that was cut', async () => {
    const headers = { authorization: `Bearer ${service.api.key}`, 'content-type': 'application/json' };
    const ask = (more: object, signal?: AbortSignal) =>
      fetch(new URL('/v1/images/generations', service.baseUrl), {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ prompt: 'A cut stream', stream: true }),
        signal: signal ?? null,
      });
    const paused = await pauseModel(service.api, 'gpt-image-2'); // the task must not end before the hang-up is seen
    const abort = new AbortController();
    const first = await ask({}, abort.signal);
    const taskId = first.headers.get('task-id');
    abort.abort();
    await eventually('the hang-up', async () => {
      const hungUp = 'select 1 from calls where task_id = $1 and hung_up_at is not null';
      return (await queryOnce(service.database.url, hungUp, [taskId])).length === 1;
    });
    const second = await ask({ 'x-stainless-retry-count': '1' });
    expect(second.headers.get('task-id')).toBe(taskId);
    await paused.end();
    expect(await second.text()).toContain('event: image_generation.completed');
  });
});
