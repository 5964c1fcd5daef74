import OpenAI from 'openai';
import sharp from 'sharp';
import { type SharedService, joinService } from '../../support/service.ts';
import { Api, type ErrorBody, type TaskBody } from '../../support/clients/api.ts';
import { LockedRows } from '../../support/faults/locked-rows.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';
import { cutFetch } from './cut-fetch.ts';

const aFilm = { prompt: 'A boat', model: 'sora-2', seconds: '1', size: '1280x720' } as never;

describe('the videos of the openai client', () => {
  let service: SharedService;
  let openai: OpenAI;
  let made: OpenAI.Video;
  beforeAll(async () => {
    service = await joinService();
    openai = openaiClient(service);
  });
  afterAll(() => service.close());

  const untilFinal = async (id: string) => {
    await service.api.untilFinal(id);
    return openai.videos.retrieve(id);
  };
  const thrownBy = (promise: Promise<unknown>) =>
    promise.then(
      () => null,
      (error: unknown) => error,
    );

  it('are created queued and can be read until they are completed', async () => {
    const { data: video, response } = await openai.videos.create(aFilm).withResponse();
    expect(video).toMatchObject({
      object: 'video',
      model: 'sora-2',
      prompt: 'A boat',
      seconds: '1',
      size: '1280x720',
      completed_at: null,
      expires_at: null,
      remixed_from_video_id: null,
      error: null,
    });
    expect(['queued', 'in_progress']).toContain(video.status);
    expect(response.headers.get('task-id')).toBe(video.id);
    made = await untilFinal(video.id);
    expect(made).toMatchObject({ id: video.id, status: 'completed', progress: 100, size: '1280x720' });
    expect(made.completed_at).toBeGreaterThanOrEqual(made.created_at);
    expect(made.expires_at).toBeGreaterThan(made.completed_at!);
    const { body: task } = await service.api.get(`/v1/tasks/${video.id}`);
    expect(task).toMatchObject({ source: 'openai', input: { aspect_ratio: '16:9', resolution: '720P', duration: 1 } });
  });

  it('are 4 seconds of 720x1280 by default, and unfinished ones say when to poll', async () => {
    const video = await openai.videos.create({ prompt: 'x #hang' });
    expect(video).toMatchObject({ model: 'sora-2', seconds: '4', size: '720x1280' });
    const { response } = await openai.videos.retrieve(video.id).withResponse();
    expect(response.headers.get('openai-poll-after-ms')).toBe('5000');
    await openai.videos.delete(video.id);
  });

  it('take a number of seconds, other sizes of their ratio, and record an alias', async () => {
    const video = (await openai.videos.create({
      model: 'sora-2-pro',
      prompt: 'x #fail:provider_rejected',
      seconds: 12,
      size: '1792x1024',
    } as never)) as OpenAI.Video & { approximations: object[] };
    expect(video.size).toBe('1920x1080');
    expect(video.approximations).toEqual([
      { param: 'model', requested: 'sora-2-pro', used: 'sora-2' },
      { param: 'size', requested: '1792x1024', used: '1920x1080' },
    ]);
    const failed = await untilFinal(video.id);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'provider_rejected' }, seconds: '12' });
  });

  it('are downloaded whole, in ranges, and as a thumbnail', async () => {
    const whole = Buffer.from(await (await openai.videos.downloadContent(made.id)).arrayBuffer());
    expect(whole.subarray(4, 8).toString()).toBe('ftyp');
    const url = `/v1/videos/${made.id}/content`;
    const headers = { authorization: `Bearer ${service.api.key}` };
    const part = await fetch(new URL(url, service.baseUrl), { headers: { ...headers, range: 'bytes=4-7' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      `bytes 4-7/${whole.length}`,
      'ftyp',
    ]);
    const head = await fetch(new URL(url, service.baseUrl), { method: 'HEAD', headers });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.length)]);
    const still = await openai.videos.downloadContent(made.id, { variant: 'thumbnail' });
    expect(still.headers.get('content-type')).toBe('image/webp');
    const { data, info } = await sharp(Buffer.from(await still.arrayBuffer()))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([1280, 720]);
    expect(new Set(data).size).toBeGreaterThan(50); // a picture, not a blank frame
    const { body: task } = await service.api.get(`/v1/tasks/${made.id}`);
    expect(JSON.stringify(task)).not.toContain('thumbnail');
    const sheet = await thrownBy(openai.videos.downloadContent(made.id, { variant: 'spritesheet' }));
    expect(sheet).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'variant' });
  });

  it('that are not ready answer 409 at once, and the client does not repeat it', async () => {
    const video = await openai.videos.create({ prompt: 'x #hang' });
    let sent = 0;
    const counting: typeof fetch = (input, init) => fetch(input, init).finally(() => (sent += 1));
    const eager = openaiClient(service, { maxRetries: 5, fetch: counting });
    const error = await thrownBy(eager.videos.downloadContent(video.id));
    expect(error).toBeInstanceOf(OpenAI.ConflictError);
    expect(error).toMatchObject({ code: 'result_not_ready' });
    expect(sent).toBe(1);
    await openai.videos.delete(video.id);
  });

  it('are remixed with another prompt', async () => {
    const remix = await openai.videos.remix(made.id, { prompt: 'A boat at night #hang' });
    expect(remix).toMatchObject({
      remixed_from_video_id: made.id,
      prompt: 'A boat at night #hang',
      size: '1280x720',
      seconds: '1',
      approximations: [{ param: 'video', requested: made.id, used: 'its parameters' }],
    });
    const { body: task } = await service.api.get(`/v1/tasks/${remix.id}`);
    expect(task).toMatchObject({ parent_task_id: made.id, relation: 'remix', source: 'openai' });
    await openai.videos.delete(remix.id);
    const error = await thrownBy(openai.videos.remix(made.id, {} as never));
    expect(error).toMatchObject({ status: 400, code: 'missing_required_parameter', param: 'prompt' });
  });

  it('are listed in both orders, page by page, and pictures are not among them', async () => {
    const stranger = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'lists' });
    const client = openaiClient({ ...service, api: new Api(service.baseUrl, stranger.body.key) });
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      ids.push((await client.videos.create({ prompt: `${at} #fail:provider_rejected` })).id);
    }
    await client.images.generate({ prompt: 'A dot' });
    const idsOf = async (query: OpenAI.VideoListParams) => {
      const seen: string[] = [];
      for await (const video of client.videos.list(query)) seen.push(video.id);
      return seen;
    };
    expect(await idsOf({ limit: 2, order: 'asc' })).toEqual(ids);
    expect(await idsOf({ limit: 2 })).toEqual(ids.toReversed());
    expect(await idsOf({ limit: 2, order: 'asc', after: ids[1]! })).toEqual(ids.slice(2));
    for (const [query, param] of [
      [{ limit: 0 }, 'limit'],
      [{ order: 'up' }, 'order'],
      [{ after: 'x' }, 'after'],
    ] as const) {
      expect(await thrownBy(client.videos.list(query as never) as never)).toMatchObject({ status: 400, param });
    }
  });

  it('are deleted, which cancels unfinished ones', async () => {
    const video = await openai.videos.create({ prompt: 'x #hang' });
    expect(await openai.videos.delete(video.id)).toEqual({ id: video.id, object: 'video.deleted', deleted: true });
    expect(await thrownBy(openai.videos.retrieve(video.id))).toMatchObject({ status: 404, code: 'task_not_found' });
  });

  it.each([
    [{}, 'missing_required_parameter', 'prompt'],
    [{ prompt: 'x', seconds: '21' }, 'value_out_of_range', 'seconds'],
    [{ prompt: 'x', seconds: 'four' }, 'invalid_value', 'seconds'],
    [{ prompt: 'x', seconds: 1.5 }, 'invalid_value', 'seconds'],
    [{ prompt: 'x', model: 'seedance-2', seconds: '3' }, 'value_out_of_range', 'seconds'],
    [{ prompt: 'x', model: 'sora-3' }, 'model_not_found', 'model'],
    [{ prompt: 'x', model: 'gpt-image-2' }, 'invalid_value', 'model'],
    [{ prompt: 'x', size: '100x1000' }, 'invalid_value', 'size'],
    [{ prompt: 'x', size: 'auto' }, 'invalid_value', 'size'],
    [{ prompt: 'x', input_reference: 'cat.png' }, 'invalid_type', 'input_reference'],
    [{ prompt: 'x', input_reference: {} }, 'missing_required_parameter', 'input_reference'],
    [{ prompt: 'x', input_reference: { image_url: 'nope' } }, 'invalid_url', 'input_reference.image_url'],
    [
      { prompt: 'x', input_reference: { image_url: 'http://10.0.0.1/' } },
      'url_not_allowed',
      'input_reference.image_url',
    ],
    [{ prompt: 'x', input_reference: { url: 'nope' } }, 'unknown_parameter', 'input_reference.url'],
    [{ prompt: 'x', reference_mode: 'best' }, 'invalid_value', 'reference_mode'],
    [{ prompt: 'x', n: 2 }, 'unsupported_parameter', 'n'],
    [{ prompt: 'x', fps: 24 }, 'unsupported_parameter', 'fps'],
    [{ prompt: 'x', seconds: 4, duration: 5 }, 'unsupported_parameter', 'duration'],
    [
      { prompt: 'x', first_frame_image_url: 'https://x.example/a.png' },
      'unsupported_parameter',
      'first_frame_image_url',
    ],
    [{ prompt: 'x', frames: 24 }, 'unknown_parameter', 'frames'],
  ])('refuse %j as %s', async (body, code, param) => {
    const { status, body: answer } = await service.api.call<ErrorBody>('POST', '/v1/videos', body);
    expect({ status, code: answer.error.code, param: answer.error.param }).toEqual({ status: 400, code, param });
    if (code === 'unknown_parameter') expect(answer.error.message).not.toMatch(/duration|first_frame_image_url/); // both are refused
  });

  it('name a missing first image as OpenAI does', async () => {
    const body = { model: 'seedance-2', prompt: 'x', reference_mode: 'first_frame' };
    const { body: answer } = await service.api.call<ErrorBody>('POST', '/v1/videos', body);
    expect([answer.error.code, answer.error.param]).toEqual(['missing_required_parameter', 'input_reference']);
  });

  it.each(['edits', 'extensions', 'characters'])('have no %s', async (route) => {
    const { status } = await service.api.call('POST', `/v1/videos/${route}`, {});
    expect([404, 405]).toContain(status);
  });

  it.each([
    ['GET', ''],
    ['GET', '/content'],
    ['DELETE', ''],
    ['POST', '/remix'],
  ])('that do not exist are 404 on %s %s', async (method, path) => {
    const picture = await service.api.create({ model: 'gpt-image-2', prompt: 'A dot' });
    for (const id of ['task_01jd8e5t9kf3qs7m2v4xw6yzab', 'x', picture.body.task_id]) {
      const body = method === 'POST' ? { prompt: 'x' } : undefined;
      const { status, body: answer } = await service.api.call<ErrorBody>(method, `/v1/videos/${id}${path}`, body);
      expect([status, answer.error.code]).toEqual([404, 'task_not_found']);
    }
  });

  it('whose creation is cut are not created twice', async () => {
    const locked = await LockedRows.of(service.database.url, 'key_load');
    const reach = () => eventually('the creation to wait', () => locked.areAwaited());
    const retrying = openaiClient(service, { maxRetries: 2, fetch: cutFetch({ reach }) });
    const creating = retrying.videos.create({ prompt: 'cut #fail:provider_rejected' });
    await eventually('the hang-up', async () => {
      const hungUp = 'select 1 from calls where api_key_id = $1 and hung_up_at is not null';
      return (await queryOnce(service.database.url, hungUp, [service.keyId])).length > 0;
    });
    await locked.release();
    const video = await creating;
    const { body } = await service.api.get<{ data: TaskBody[] }>('/v1/tasks?kind=video&limit=100');
    const created = body.data.filter(({ input }) => (input as { prompt: string }).prompt.startsWith('cut '));
    expect(created.map(({ task_id }) => task_id)).toEqual([video.id]);
  });
});
