import OpenAI, { toFile } from 'openai';
import { type SharedService, joinService } from '../../support/service.ts';
import { BatchClient, linesOf } from '../../support/clients/batches.ts';
import { aPicture } from '../../support/clients/files.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';

type Endpoint = '/v1/images/generations' | '/v1/images/edits' | '/v1/videos';

describe('the batches of the openai client', () => {
  let service: SharedService;
  let openai: OpenAI;
  let batches: BatchClient;
  beforeAll(async () => {
    service = await joinService();
    openai = openaiClient(service);
    batches = new BatchClient(service.api);
  });
  afterAll(() => service.close());

  const upload = async (url: string, bodies: object[]) => {
    const lines = bodies.map((body, nth) => JSON.stringify({ custom_id: `item-${nth}`, method: 'POST', url, body }));
    const file = await toFile(Buffer.from(lines.join('\n')), 'requests.jsonl');
    return openai.files.create({ file, purpose: 'batch' });
  };
  const create = async (endpoint: Endpoint, bodies: object[]) => {
    const file = await upload(endpoint, bodies);
    return openai.batches.create({ input_file_id: file.id, endpoint, completion_window: '24h', metadata: { a: 'b' } });
  };
  const untilEnded = (id: string) =>
    eventually('the batch to end', async () => {
      const batch = await openai.batches.retrieve(id);
      return ['completed', 'cancelled'].includes(batch.status) && batch;
    });
  const linesIn = async (fileId: string | undefined) => linesOf(await (await openai.files.content(fileId!)).text());

  it('makes pictures from an uploaded file: create, retrieve, list, and the two result files', async () => {
    const batch = await create('/v1/images/generations', [
      { model: 'gpt-image-2', prompt: 'A cat', size: '1024x1024', quality: 'hd', safety_identifier: 'user-1' },
      { prompt: '#fail:content_policy_violation' },
    ]);
    expect(batch).toMatchObject({
      object: 'batch',
      endpoint: '/v1/images/generations',
      completion_window: '24h',
      metadata: { a: 'b' },
      request_counts: { total: 2, completed: 0, failed: 0 },
    });
    const ended = await untilEnded(batch.id);
    expect(ended).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 1, failed: 1 } });
    const [made] = await linesIn(ended.output_file_id);
    expect(made).toMatchObject({ custom_id: 'item-0', error: null, response: { status_code: 200 } });
    const body = made?.response?.body as unknown as OpenAI.ImagesResponse & { approximations: object[] };
    expect(body).toMatchObject({
      size: '1024x1024',
      quality: 'high',
      output_format: 'png',
      safety_identifier: 'user-1',
    });
    expect(body.approximations).toEqual([{ param: 'quality', requested: 'hd', used: 'auto' }]);
    expect((await fetch(body.data![0]!.url!)).headers.get('content-type')).toBe('image/png');
    const [failed] = await linesIn(ended.error_file_id);
    expect(failed).toMatchObject({ custom_id: 'item-1', response: null, error: { code: 'content_policy_violation' } });

    const described = await openai.files.retrieve(ended.error_file_id!);
    expect(described).toMatchObject({ id: ended.error_file_id, purpose: 'batch_output', status: 'processed' });
    expect(described.bytes).toBe(Buffer.byteLength(`${JSON.stringify(failed)}\n`));

    const listed: string[] = [];
    for await (const each of openai.batches.list({ limit: 1 })) listed.push(each.id);
    expect(listed).toContain(batch.id);
  });

  it('makes edits and videos, whose lines have the bodies of those routes', async () => {
    const picture = await openai.files.create({ file: await toFile(await aPicture(), 'a.png'), purpose: 'vision' });
    const edits = await create('/v1/images/edits', [{ prompt: 'Bluer', images: [{ file_id: picture.id }] }]);
    const films = await create('/v1/videos', [{ prompt: 'A boat', seconds: '1', size: '1280x720' }]);
    const edited = await untilEnded(edits.id);
    expect((await linesIn(edited.output_file_id))[0]?.response?.body).toMatchObject({
      data: [{ url: expect.any(String) }],
    });
    const [task] = await batches.tasks(edits.id);
    expect(task?.input).toMatchObject({ reference_images: [picture.id] });
    const filmed = await untilEnded(films.id);
    const [film] = await linesIn(filmed.output_file_id);
    expect(film?.response?.body).toMatchObject({
      object: 'video',
      status: 'completed',
      seconds: '1',
      size: '1280x720',
    });
  });

  it('refuses pictures in the results, streams and unknown fields, in the words of the route', async () => {
    const bodies = [
      { prompt: 'x', response_format: 'b64_json' },
      { prompt: 'x', stream: true },
      { prompt: 'x', size: '100x4000' },
      { prompt: 'x', colour: 'red' },
      { prompt: '' },
    ];
    const error = (await create('/v1/images/generations', bodies).catch((thrown: unknown) => thrown)) as InstanceType<
      typeof OpenAI.BadRequestError
    >;
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error.code).toBe('batch_invalid');
    const { errors } = error.error as { errors: { line: number; code: string; param: string }[] };
    expect(errors.map(({ line, code, param }) => [line, code, param])).toEqual([
      [1, 'unsupported_parameter', 'response_format'],
      [2, 'unsupported_parameter', 'stream'],
      [3, 'invalid_value', 'size'],
      [4, 'unknown_parameter', 'colour'],
      [5, 'invalid_value', 'prompt'],
    ]);
    const edit = (await create('/v1/images/edits', [{ prompt: 'x' }]).catch(
      (thrown: unknown) => thrown,
    )) as InstanceType<typeof OpenAI.BadRequestError>;
    expect((edit.error as { errors: object[] }).errors).toMatchObject([{ param: 'images' }]);
  });

  it('is cancelled', async () => {
    const batch = await create('/v1/images/generations', [{ prompt: '#hang' }, { prompt: '#hang' }]);
    const cancelled = await openai.batches.cancel(batch.id);
    expect(['cancelling', 'cancelled']).toContain(cancelled.status);
    const ended = await untilEnded(batch.id);
    expect(ended).toMatchObject({ status: 'cancelled', request_counts: { total: 2, completed: 0, failed: 2 } });
    expect(ended.cancelled_at).toBeGreaterThan(0);
  });
});
