import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Api, ErrorBody, TaskBody } from '../support/clients/api.ts';
import { type FileBody, FilesClient } from '../support/clients/files.ts';
import type { Deployment } from './deployment.ts';
import type { Plan } from './plan.ts';
import type { RunRecord } from './run-record.ts';
import type { Tenant } from './tenants.ts';

interface Load {
  plan: Plan;
  deployment: Deployment;
  tenants: Tenant[];
  record: RunRecord;
  random: () => number;
  picturesUrl: string;
  /** A PNG, which the clients upload. */
  picture: Buffer;
}

const TIMEOUT_MS = 20_000;
const RETRY_FOR_MS = 60_000;
/** A key that the run makes and revokes has so few places that some of its creates are refused. */
const SMALL_LIMITS = { max_running: 2, max_queued: 4, creates_per_minute: 60 };

type Body = TaskBody & Partial<ErrorBody>;

/** Creates tasks at the planned rate until the signal aborts, and does with them what clients do. */
export class Clients {
  private nth = 0;
  private readonly open = new Set<Promise<void>>();

  constructor(private readonly load: Load) {}

  async run(over: AbortSignal): Promise<void> {
    const { rate } = this.load.plan;
    while (!over.aborted) {
      this.start(() => this.createOne());
      if (this.nth % 4 === 0) this.start(() => this.readLists());
      if (this.nth % 60 === 0) this.start(() => this.useShortKey());
      if (this.nth % 90 === 45) this.start(() => this.useErasedKey());
      await sleep(((0.5 + this.load.random()) * 1000) / rate);
    }
    await Promise.all(this.open);
  }

  private start(work: () => Promise<void>): void {
    if (this.open.size > 500) return this.load.record.count('work left out');
    const done = work()
      .catch((error: Error) => this.load.record.violation(`a client failed: ${error.stack}`))
      .finally(() => this.open.delete(done));
    this.open.add(done);
  }

  /** A create, sometimes with an idempotency key and a replay; then a long poll, a cancel, or nothing. */
  private async createOne(): Promise<void> {
    const { random, record, tenants } = this.load;
    const nth = (this.nth += 1);
    const tenant = this.pick(tenants);
    const { body, cancels } = this.request(nth);
    const headers = random() < 0.6 ? { 'idempotency-key': `soak-${nth}` } : {};
    const id = await this.create(tenant, body, headers);
    if (id === null) return;
    record.accepted.set(id, tenant.name);
    if ('idempotency-key' in headers && random() < 0.1) {
      const again = await this.create(tenant, body, headers);
      if (again !== null && again !== id) record.violation(`an idempotency key made two tasks: ${id}, ${again}`);
    }
    if (cancels) {
      await sleep(1_000 + 5_000 * random());
      await this.cancel(tenant, id);
    } else if (random() < 0.3) {
      await this.call(tenant.key, 'long poll', (api) => api.get(`/v1/tasks/${id}?wait=15`));
    }
  }

  /** Every create has another prompt, so that the stubs can tell what they were paid for. */
  private request(nth: number): { body: object; cancels: boolean } {
    const { random, picturesUrl } = this.load;
    const kind = random();
    const prompt = `soak ${nth}`;
    const delay = (0.2 + 2 * random()).toFixed(1);
    if (kind < 0.3) {
      const refused = `${prompt} #delay:${delay} #fail:content_policy_violation`;
      return { body: { model: 'nano-banana-2', prompt: refused }, cancels: false };
    }
    if (kind < 0.4) return { body: { model: 'nano-banana-2', prompt: `${prompt} #hang` }, cancels: true };
    if (kind < 0.46) return { body: { model: 'nano-banana-2', prompt: `${prompt} waves at dusk` }, cancels: false };
    const images = [`${picturesUrl}/${nth}-a.png`, `${picturesUrl}/${nth}-b.png`];
    if (kind < 0.7) {
      const film = {
        model: 'seedance-2',
        prompt,
        duration: 4,
        ...(random() < 0.2 && { reference_image_url: images[0] }),
      };
      return { body: film, cancels: random() < 0.1 };
    }
    const metadata = { order: String(nth % 100) };
    const more = { ...(random() < 0.2 && { reference_images: images }), ...(random() < 0.25 && { n: 2 }) };
    return { body: { model: 'gpt-image-2', prompt, metadata, ...more }, cancels: false };
  }

  /** With an idempotency key it retries until it is accepted. @returns null if it was not */
  private async create({ key }: Tenant, body: object, headers: object): Promise<string | null> {
    const deadline = Date.now() + RETRY_FOR_MS;
    for (;;) {
      const answer = await this.call<Body>(key, 'create', (api) => api.create<Body>(body, headers));
      if (answer?.status === 201) return answer.body.task_id;
      if (!('idempotency-key' in headers) || Date.now() > deadline) return null;
      await sleep(300);
    }
  }

  private async cancel({ key }: Tenant, id: string): Promise<void> {
    await this.callUntil(200, key, 'cancel', (api) => api.cancel(id));
  }

  private async readLists(): Promise<void> {
    const { key } = this.pick(this.load.tenants);
    const answer = await this.call<{ data: TaskBody[] }>(key, 'list', (api) => api.get(`/v1/tasks?${this.filter()}`));
    const link = answer?.body?.data?.find(({ result }) => result)?.result?.outputs[0]?.url;
    if (!link) return;
    const reply = await fetch(new URL(new URL(link).pathname + new URL(link).search, this.api(key).baseUrl)).catch(
      () => null,
    );
    await reply?.arrayBuffer().catch(() => undefined);
    this.load.record.count(`file ${reply?.status ?? 'none'}`);
    // A link ends with its file, so one of a file that expires at this moment is refused, before the purge makes it 410.
    const isExpired = Number(new URL(link).searchParams.get('expires')) * 1000 <= Date.now();
    const expected = [200, 410, 503, 404, ...(isExpired ? [403] : [])];
    if (reply && !expected.includes(reply.status)) this.load.record.violation(`a file was ${reply.status}`);
  }

  /** Any combination of filters, because a service that keeps something for each combination would grow. */
  private filter(): URLSearchParams {
    const { random } = this.load;
    const filters = {
      status: this.pick(['queued', 'running', 'succeeded', 'failed']),
      kind: this.pick(['image', 'video']),
      model: this.pick(['gpt-image-2', 'nano-banana-2', 'seedance-2']),
      search: `soak ${Math.floor(random() * this.nth)}`,
      'metadata[order]': String(Math.floor(random() * 100)),
      created_after: String(Math.floor(Date.now() / 1000 - 600 * random())),
      order: this.pick(['asc', 'desc']),
      limit: String(1 + Math.floor(random() * 50)),
    };
    return new URLSearchParams(Object.entries(filters).filter(() => random() < 0.3));
  }

  /** Makes a key, uploads a picture with it, makes a picture from that one, and has the key erased with all that it has. */
  private async useErasedKey(): Promise<void> {
    const admin = this.load.deployment.key;
    const made = await this.call<{ id: string; key: string }>(admin, 'make key', (api) =>
      api.call('POST', '/v1/api_keys', { name: 'erased', limits: { max_file_bytes: 1_000_000 } }),
    );
    if (made?.status !== 201) return;
    const { id, key } = made.body;
    for (const name of ['upload', 'upload again']) {
      const upload = await this.call(key, name, (api) => new FilesClient(api).upload<FileBody>(this.load.picture));
      if (upload?.status !== 201) continue;
      const body = { model: 'gpt-image-2', prompt: `erased ${id} ${name}`, reference_images: [upload.body.id] };
      await this.call(key, 'create of an erased key', (api) => api.create<Body>(body));
    }
    await sleep(5_000 * this.load.random());
    const isErased = await this.callUntil(202, admin, 'erase', (api) =>
      api.call('DELETE', `/v1/api_keys/${id}?erase=true`),
    );
    if (!isErased) this.load.record.violation(`key ${id} could not be erased`);
  }

  /** Makes a key, changes and uses it, rotates it sometimes, and revokes it with tasks of it still waiting. */
  private async useShortKey(): Promise<void> {
    const { deployment, record, random } = this.load;
    const admin = deployment.key;
    const made = await this.call<{ id: string; key: string }>(admin, 'make key', (api) =>
      api.call('POST', '/v1/api_keys', { name: 'short', limits: SMALL_LIMITS }),
    );
    if (made?.status !== 201) return;
    const { id } = made.body;
    let { key } = made.body;
    await this.call(admin, 'change key', (api) =>
      api.call('PATCH', `/v1/api_keys/${id}`, { limits: { max_queued: 3 } }),
    );
    for (let nth = 0; nth < 6; nth += 1) {
      const body = { model: 'nano-banana-2', prompt: `short ${id} ${nth} #delay:3 #fail:content_policy_violation` };
      const answer = await this.call<Body>(key, 'create of a short key', (api) => api.create<Body>(body));
      if (answer?.status === 201) record.accepted.set(answer.body.task_id, null);
    }
    if (random() < 0.3) {
      const rotated = await this.call<{ key: string }>(admin, 'rotate key', (api) =>
        api.call('POST', `/v1/api_keys/${id}/rotate`, {}),
      );
      if (rotated?.status === 200) ({ key } = rotated.body);
    }
    const waiting = this.call(key, 'read of a short key', (api) => api.get('/v1/tasks?limit=1'));
    await sleep(500 + 3_000 * random());
    await this.callUntil(204, admin, 'revoke key', (api) => api.call('DELETE', `/v1/api_keys/${id}`));
    await waiting;
  }

  /** Sends a request again until it is answered with this status. @returns false if it is not for a minute */
  private async callUntil(
    status: number,
    key: string,
    name: string,
    send: (api: Api) => Promise<Answer<unknown>>,
  ): Promise<boolean> {
    for (const deadline = Date.now() + RETRY_FOR_MS; Date.now() < deadline; await sleep(500)) {
      if ((await this.call(key, name, send))?.status === status) return true;
    }
    return false;
  }

  /** Sends a request to one of the API processes and counts its status. @returns null without a response */
  private async call<Reply = TaskBody>(
    key: string,
    name: string,
    send: (api: Api) => Promise<Answer<Reply>>,
  ): Promise<Answer<Reply> | null> {
    const { record } = this.load;
    const lost = sleep(TIMEOUT_MS, null, { ref: false });
    const answer = await Promise.race([send(this.api(key)), lost]).catch(() => null);
    record.count(`${name} ${answer?.status ?? 'without response'}`);
    if (answer && (answer.status === 500 || (answer.status >= 400 && !EXPECTED.has(answer.status))))
      record.violation(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
  }

  private api(key: string): Api {
    return this.pick(this.load.deployment.apis).client(key);
  }

  private pick<Item>(items: Item[]): Item {
    return items[Math.floor(this.load.random() * items.length)]!;
  }
}

/** 401: a revoked key; 409: a twin is in flight; 429: a limit of a short key; 503: the database was cut or a row locked. */
const EXPECTED = new Set([401, 409, 429, 503]);
