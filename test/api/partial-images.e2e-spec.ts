import { existsSync, readdirSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';
import { Authenticator } from '../../src/auth/credentials/authenticator.ts';
import { GenerationsService } from '../../src/generation/accept/generations.service.ts';
import { PartialImages } from '../../src/generation/run/partial-images.ts';
import { FollowTasks } from '../../src/tasks/live/follow.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { aCat, type TaskBody } from '../support/clients/api.ts';
import { freePort } from '../support/free-port.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';

describe('partial images', () => {
  let service: InProcess;
  /** Another process of the deployment, without workers. */
  let other: InProcess;
  beforeAll(async () => {
    service = await startInProcess({ PROVENANCE: 'off' }); // the mark names the task, so equal pictures would differ
    const { DATA_DIR, BOOTSTRAP_API_KEY } = service.env as Record<string, string>;
    other = await startInProcess(
      { ROLE: 'api', DATA_DIR: DATA_DIR!, BOOTSTRAP_API_KEY: BOOTSTRAP_API_KEY! },
      service.database,
    );
  });
  afterAll(async () => {
    await other?.app.close();
    await service?.close();
  });

  async function accept(input: object, partialImages: number, app: InProcess = service): Promise<string> {
    const caller = await app.app.get(Authenticator).authenticate(app.api.key!);
    return (await app.app.get(GenerationsService).accept(caller, { ...aCat, ...input }, { origin: { partialImages } }))
      .taskId;
  }

  /** Follows a task as an interface that streams would: the next partial images after every state. */
  async function follow({ app, api }: InProcess, taskId: string): Promise<{ partials: Buffer[]; early: number }> {
    const { apiKeyId } = await app.get(Authenticator).authenticate(api.key!);
    const [partials, finder]: [Buffer[], PartialImages] = [[], app.get(PartialImages)];
    let early = 0;
    for await (const { attempt, status } of await app.get(FollowTasks).follow(apiKeyId, taskId)) {
      for (;;) {
        const found = await finder.find(taskId, attempt, partials.length);
        if (!found) break;
        partials.push(await buffer(found));
      }
      if (status === 'running') early = partials.length;
    }
    return { partials, early };
  }

  const filesOf = (taskId: string, { env }: InProcess = service) => {
    const folder = `${env.DATA_DIR}/files/${taskId}`;
    return existsSync(folder) ? readdirSync(folder).toSorted() : [];
  };

  it.each([1, 2, 3])(
    '%i: another process gets exactly as many from the sandbox, the picture follows',
    async (wanted) => {
      const id = await accept({ prompt: 'A harbour at dawn', resolution: '2K' }, wanted);
      const { partials } = await follow(other, id);
      expect(partials).toHaveLength(wanted);
      for (const partial of partials) {
        expect(await sharp(partial).metadata()).toMatchObject({ format: 'png', width: 2048, height: 2048 });
      }
      expect(new Set(partials.map(String)).size).toBe(wanted);
      const { body } = await service.api.get(`/v1/tasks/${id}`);
      expect(body).toMatchObject({ status: 'succeeded', progress: 100 });
      expect(body.result!.outputs).toHaveLength(1);
      const plain = await service.api.create(
        { ...aCat, prompt: 'A harbour at dawn', resolution: '2K' },
        { prefer: 'wait=60' },
      );
      expect(body.result!.outputs[0]!.sha256).toBe(plain.body.result!.outputs[0]!.sha256);
    },
  );

  it('are there while a large picture is still being made', async () => {
    const { partials, early } = await follow(other, await accept({ resolution: '4K' }, 3));
    expect(partials).toHaveLength(3);
    expect(early).toBeGreaterThan(0);
  });

  it('none where none are wanted, for films and for several pictures', async () => {
    const ids = [
      await accept({}, 0),
      await accept({ n: 2 }, 3),
      await accept({ model: 'sora-2', prompt: 'Waves', resolution: '720P', duration: 1 }, 3),
    ];
    for (const id of ids) {
      await service.api.untilFinal(id);
      expect(filesOf(id).filter((name) => name.startsWith('partial'))).toEqual([]);
      expect(await service.app.get(PartialImages).find(id, 1, 0)).toBeNull();
    }
  });

  it('are of the requested file format', async () => {
    const { partials } = await follow(service, await accept({ output_format: 'webp', output_compression: 80 }, 2));
    expect(partials).toHaveLength(2);
    for (const partial of partials) expect((await sharp(partial).metadata()).format).toBe('webp');
  });

  it('are deleted with the files of their task', async () => {
    const id = await accept({}, 2);
    await service.api.untilFinal(id);
    expect(filesOf(id)).toEqual(['1-0.png', 'partial-1-0', 'partial-1-0.stored', 'partial-1-1', 'partial-1-1.stored']);
    await service.api.call('DELETE', `/v1/tasks/${id}`);
    expect(filesOf(id)).toEqual([]);
  });

  it('that cannot be stored are left out; the picture is made', async () => {
    const partials = service.app.get(PartialImages);
    const { store } = partials;
    partials.store = async () => {
      throw new Error('The storage is away.');
    };
    try {
      const id = await accept({}, 3);
      expect((await service.api.untilFinal(id)).status).toBe('succeeded');
      expect(filesOf(id)).toEqual(['1-0.png']);
    } finally {
      partials.store = store;
    }
  });

  it('of OpenAI are shown while the rest of its stream is still on the way', async () => {
    const openai = await new OpenaiStub().start();
    const real = await startInProcess({
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      PORT: String(await freePort()),
    });
    try {
      const rest = Promise.withResolvers<void>();
      openai.plan(/images\/generations/, { restAfter: rest.promise });
      const id = await accept({}, 2, real);
      const found = await eventually('the second stage', () => real.app.get(PartialImages).find(id, 1, 1));
      expect((await buffer(found)).toString()).toBe('stage 1');
      const shown = await eventually('the progress', async () => {
        const { body } = await real.api.get<TaskBody>(`/v1/tasks/${id}`);
        return body.progress > 0 && body;
      });
      expect(shown.status).toBe('running');
      rest.resolve();
      expect((await real.api.untilFinal(id)).status).toBe('succeeded');
      expect(openai.submits).toBe(1);
    } finally {
      await real.close();
      await openai.stop();
    }
  });
});
