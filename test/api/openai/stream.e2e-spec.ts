import OpenAI from 'openai';
import sharp from 'sharp';
import { type SharedService, joinService } from '../../support/service.ts';
import { pauseModel } from '../../support/clients/pauses.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';

describe('a stream of pictures', () => {
  let service: SharedService;
  let openai: OpenAI;
  beforeAll(async () => {
    service = await joinService();
    openai = openaiClient(service);
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
        safety_identifier: 's-1',
        task_id: response.headers.get('task-id'),
      });
      expect(await sharp(Buffer.from(b64_json, 'base64')).metadata()).toMatchObject({ width: 1536, height: 1024 });
    }
    const delivered = 'select 1 from calls where task_id = $1 and delivered_at is not null';
    const rows = () => queryOnce(service.database.url, delivered, [response.headers.get('task-id')]);
    await eventually('the delivery', async () => (await rows()).length > 0);
  });

  it.each([1, 3])('shows %i partial pictures of the same size on the way', async (partial_images) => {
    const stream = await openai.images.generate({
      prompt: `A harbour ${partial_images}`,
      stream: true,
      partial_images,
    });
    const partials: Buffer[] = [];
    const events: OpenAI.ImageGenStreamEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type !== 'image_generation.partial_image') continue;
      expect(event).toMatchObject({ partial_image_index: partials.length, output_format: 'png', background: 'opaque' });
      partials.push(Buffer.from(event.b64_json, 'base64'));
    }
    expect(events.map(({ type }) => type)).toEqual([
      ...Array.from({ length: partial_images }, () => 'image_generation.partial_image'),
      'image_generation.completed',
    ]);
    for (const bytes of partials) {
      expect(await sharp(bytes).metadata()).toMatchObject({ width: 1024, height: 1024, format: 'png' });
    }
  });

  it('ends with an error that makes the client throw, in its own words', async () => {
    const stream = await openai.images.generate({ prompt: 'x #fail:content_policy_violation', stream: true });
    const read = async () => {
      for await (const _ of stream);
    };
    const error = await read().then(
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
