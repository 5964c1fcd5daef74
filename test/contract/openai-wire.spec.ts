import type { ValidateFunction } from 'ajv';
import { openaiProvider } from '../../src/providers/openai/openai.provider.ts';
import { planVideo } from '../../src/providers/openai/openai-video-plan.ts';
import type { ProviderRequest } from '../../src/providers/contract/provider.ts';
import { ownSchemas, publishedSchemas } from '../support/openai-schemas/validators.ts';
import { OPENAI_FAULTS } from '../support/stubs/openai-faults.ts';
import { failureOf, inputImage, RecordedRun, requestFor } from '../support/stubs/recorded-run.ts';
import type { StubRequest } from '../support/stubs/stub-http.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { findModel } from '../../src/models/catalog.ts';

const gptImage2 = findModel('gpt-image-2')!;

/** Path of a copy of OpenAI's own openapi.json. If set, every test also checks against that file. */
const { OPENAI_OPENAPI } = process.env;
const sources = [
  ['our schemas', ownSchemas] as const,
  ...(OPENAI_OPENAPI ? [["OpenAI's published file", () => publishedSchemas(OPENAI_OPENAPI)] as const] : []),
];

const provider = openaiProvider;
const { aspect_ratio, resolution } = gptImage2.parameters.properties as unknown as Record<string, { enum: string[] }>;

let stub: OpenaiStub;
let run: RecordedRun;
let picture: ProviderRequest;
let film: ProviderRequest;

beforeEach(async () => {
  stub = await new OpenaiStub().start();
  run = new RecordedRun();
  picture = {
    taskId: 'task_01',
    model: 'gpt-image-2',
    kind: 'image',
    input: { prompt: 'a cat', aspect_ratio: '1:1', resolution: '1K', n: 2 },
    images: { references: [], firstFrame: null },
    upstream: {
      model: 'gpt-image-2',
      baseUrl: stub.baseUrl,
      apiKey: stub.key,
      durationPolicy: 'exact',
      pollIntervalMs: 5,
    },
  };
  film = requestFor(picture, {
    model: 'sora-2',
    kind: 'video',
    input: { aspect_ratio: '9:16', resolution: '720P', duration: 8, reference_mode: 'first_frame' },
    upstream: { model: 'sora-2' },
  });
});

afterEach(async () => {
  run.close();
  await stub.stop();
});

describe.each(sources)('by %s', (_source, load) => {
  const schemas = load();

  it.each(aspect_ratio.enum)('requests and stub answers for pictures of %s match the schema', async (ratio) => {
    for (const size of resolution.enum) {
      await provider
        .prepare(requestFor(picture, { input: { aspect_ratio: ratio, resolution: size, n: 1 } }))
        .generate(run);
    }
    for (const { fields } of stub.requests) expect(faultsOf(schemas.generationRequest, fields)).toEqual([]);
    for (const { body } of stub.answers) expect(faultsOf(schemas.answer, body)).toEqual([]);
    expect(stub.answers).toHaveLength(3);
  });

  it('requests and answers for edits with one and sixteen references match the schema', async () => {
    const reference = await inputImage(32, 32, 'webp');
    for (const count of [1, 16]) {
      const references = Array.from({ length: count }, () => reference);
      await provider.prepare(requestFor(picture, { images: { references, firstFrame: null } })).generate(run);
    }
    for (const request of stub.requests) expect(faultsOf(schemas.editRequest, formOf(request, schemas))).toEqual([]);
    for (const { body } of stub.answers) expect(faultsOf(schemas.answer, body)).toEqual([]);
    expect(stub.answers).toHaveLength(2);
  });

  it('requests and answers for a video match the schema, from creation to deletion', async () => {
    const firstFrame = await inputImage(90, 160);
    await provider.prepare(requestFor(film, { images: { references: [], firstFrame } })).generate(run);
    const [id = ''] = stub.jobs.keys();
    await provider.cancel(film, id, run.signal);
    const { fields, files } = stub.requests[0] ?? { fields: {}, files: [] };
    expect(faultsOf(schemas.createRequest, { ...fields, input_reference: files[0]?.type })).toEqual([]);
    const videos = stub.answers.filter(({ request }) => request.method !== 'DELETE');
    expect(videos.map(({ body }) => (body as { status: string }).status)).toEqual([
      'queued',
      'queued',
      'in_progress',
      'completed',
    ]);
    for (const { body } of videos) expect(faultsOf(schemas.video, body)).toEqual([]);
    expect(faultsOf(schemas.deleted, stub.answers.at(-1)?.body)).toEqual([]);
  });

  it('answers for a failed video match the schema', async () => {
    stub.jobError = { code: 'server_error', message: 'failed' };
    await failureOf(provider.prepare(film).generate(run));
    expect(stub.answers.at(-1)?.body).toMatchObject({ status: 'failed' });
    expect(faultsOf(schemas.video, stub.answers.at(-1)?.body)).toEqual([]);
  });

  it('the failures of the stub match the schema', () => {
    const enveloped = Object.values(OPENAI_FAULTS).filter(({ reply }) => 'error' in Object(reply.body));
    expect(enveloped.length).toBeGreaterThan(10);
    for (const { reply } of enveloped) expect(faultsOf(schemas.failure, reply.body)).toEqual([]);
  });

  it('what does not match the schema is found', () => {
    expect(faultsOf(schemas.generationRequest, { model: 'gpt-image-2', prompt: 'a cat', n: 11 })).not.toEqual([]);
    expect(faultsOf(schemas.answer, { data: [] })).not.toEqual([]);
    expect(faultsOf(schemas.createRequest, { prompt: 'a wave', seconds: 4 })).not.toEqual([]);
    const { size, seconds } = planVideo(film);
    expect(faultsOf(schemas.createRequest, { prompt: 'a wave', seconds: String(seconds), size })).not.toEqual([]);
    expect(faultsOf(schemas.video, { id: 'video_1', status: 'running' })).not.toEqual([]);
  });
});

function faultsOf(validate: ValidateFunction, value: unknown): unknown[] {
  return validate(value) ? [] : (validate.errors ?? ['invalid']);
}

/** A multipart form as one object, in the form of its schema. */
function formOf({ fields, files }: StubRequest, { editRequest }: { editRequest: ValidateFunction }): object {
  const image = files.map(({ type }) => type);
  // The published schema describes the meaning of a part, not its text, so `n` is a number there.
  const published = typeof editRequest.schema === 'object' && !('additionalProperties' in editRequest.schema);
  return { ...fields, ...(published && { n: Number(fields.n) }), image };
}
