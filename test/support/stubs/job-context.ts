import { readFile } from 'node:fs/promises';
import type { Provider, ProviderRequest } from '../../../src/providers/contract/provider.ts';
import { newTaskId } from '../../../src/tasks/record/task-id.ts';
import { eventually } from '../wait.ts';
import { RecordedRun, requestFor } from './recorded-run.ts';
import type { StubHttp } from './stub-http.ts';

/** The provider under test and its upstream. */
interface Subject<Stub extends StubHttp> {
  provider: Provider;
  newStub: () => Stub;
  baseUrlOf: (stub: Stub) => string;
  /** The upstream's names for gpt-image-2 and Seedance. */
  models: { picture: string; film: string };
}

/** Shared by the specs of job interfaces: for each test a new stub, a new run, and valid requests. */
export class JobContext<Stub extends StubHttp> {
  private readonly runs: RecordedRun[] = [];
  private stub: Stub | null = null;

  constructor(private readonly subject: Subject<Stub>) {}

  async fresh(): Promise<{ stub: Stub; run: RecordedRun; picture: ProviderRequest; film: ProviderRequest }> {
    const { newStub, baseUrlOf, models } = this.subject;
    const stub = await newStub().start();
    this.stub = stub;
    const picture: ProviderRequest = {
      taskId: newTaskId(),
      model: 'gpt-image-2',
      kind: 'image',
      input: { prompt: 'a fox', aspect_ratio: 'auto', resolution: '1K', n: 1 },
      images: { references: [], firstFrame: null },
      upstream: {
        model: models.picture,
        baseUrl: baseUrlOf(stub),
        apiKey: stub.key,
        durationPolicy: 'exact',
        pollIntervalMs: 1,
      },
    };
    const film: ProviderRequest = {
      ...requestFor(picture, { upstream: { model: models.film } }),
      taskId: newTaskId(),
      model: 'seedance-2',
      kind: 'video',
      input: { prompt: 'a boat', aspect_ratio: '21:9', resolution: '720p', duration: 5, reference_mode: 'omni' },
    };
    return { stub, run: this.freshRun(), picture, film };
  }

  async clear(): Promise<void> {
    for (const run of this.runs.splice(0)) run.close();
    await this.stub?.stop();
  }

  /** A new run. `clear()` removes its files. */
  freshRun(...known: ConstructorParameters<typeof RecordedRun>): RecordedRun {
    const run = new RecordedRun(...known);
    this.runs.push(run);
    return run;
  }

  /** @param run by default the first run of the test. @returns the results as text */
  async made(request: ProviderRequest, run: RecordedRun = this.runs[0]!): Promise<string[]> {
    const outputs = await this.subject.provider.prepare(request).generate(run);
    return Promise.all(
      outputs.map(async (output) => {
        if (Buffer.isBuffer(output)) throw new Error('A result must be a file.');
        return (await readFile(output.path)).toString();
      }),
    );
  }
}

export async function until(isMet: () => boolean): Promise<void> {
  await eventually(`the condition ${isMet}`, async () => isMet());
}
