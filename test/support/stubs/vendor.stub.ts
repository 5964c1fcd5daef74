import type { IncomingMessage } from 'node:http';
import { film } from './media.ts';
import { type Reply, StubHttp, type StubRequest } from './stub-http.ts';

const PREFIX = '/v2';

/** A vendor whose calls a declaration describes. Films are jobs, and a list finds them by the reference in each job. */
export class VendorStub extends StubHttp {
  /** The jobs by id. */
  readonly jobs = new Map<string, { ref: unknown; polls: number; toReady: number }>();
  /** How many polls a job takes to be ready, for jobs that are submitted from now on. */
  pollsToReady = 2;

  get baseUrl(): string {
    return `${this.origin}${PREFIX}`;
  }

  protected async answer({ method, path, fields, query }: StubRequest): Promise<Reply> {
    if (path === '/store/film.mp4') return { status: 200, body: await film(64, 64, 1) };
    if (method === 'POST') {
      const id = `film-${this.jobs.size + 1}`;
      this.jobs.set(id, { ref: fields.ref, polls: 0, toReady: this.pollsToReady });
      return { status: 201, body: { film: { id } } };
    }
    if (path === `${PREFIX}/films`) {
      const items = [...this.jobs].filter(([, { ref }]) => ref === query.ref).map(([id]) => ({ id }));
      return { status: 200, body: { items } };
    }
    const job = this.jobs.get(path.slice(`${PREFIX}/films/`.length));
    if (!job) return { status: 404, body: {} };
    job.polls += 1;
    if (job.polls <= job.toReady) return { status: 200, body: { state: 'working' } };
    return { status: 200, body: { state: 'ready', files: [{ url: '/store/film.mp4' }] } };
  }

  protected override keyOf(headers: IncomingMessage['headers']): string | undefined {
    return headers['x-api-key'] as string | undefined;
  }

  protected override isSubmit({ method, path }: StubRequest): boolean {
    return method === 'POST' && path === `${PREFIX}/films`;
  }
}
