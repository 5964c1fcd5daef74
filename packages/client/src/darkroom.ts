import { follow } from './follow.ts';
import { type DarkroomOptions, Transport } from './http/transport.ts';
import { ApiKeys, Estimates, Usage } from './resources/account.ts';
import { Batches } from './resources/batches.ts';
import { Files } from './resources/files.ts';
import { Models } from './resources/models.ts';
import { Shares } from './resources/shares.ts';
import { Tasks } from './resources/tasks.ts';
import { WebhookEndpoints } from './resources/webhook-endpoints.ts';
import { create, type CreateOptions, Run } from './run.ts';
import type { GenerationRequest, Task } from './types.gen.ts';

/** A client of a Darkroom service with one API key. */
export class Darkroom {
  readonly models: Models;
  readonly tasks: Tasks;
  readonly files: Files;
  readonly shares: Shares;
  readonly batches: Batches;
  readonly usage: Usage;
  readonly estimates: Estimates;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly apiKeys: ApiKeys;
  private readonly transport: Transport;

  constructor(options: DarkroomOptions = {}) {
    const transport = new Transport(options);
    this.transport = transport;
    this.models = new Models(transport);
    this.tasks = new Tasks(transport);
    this.files = new Files(transport);
    this.shares = new Shares(transport);
    this.batches = new Batches(transport);
    this.usage = new Usage(transport);
    this.estimates = new Estimates(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
    this.apiKeys = new ApiKeys(transport);
  }

  /** Creates a task. The parameters are those of the model that `request.model` names. */
  async generate(request: GenerationRequest, options: CreateOptions = {}): Promise<Run> {
    const task = await create<Task>(this.transport, '/v1/generations', request, options);
    return new Run(this.transport, task.task_id, task);
  }

  /** A `Run` for a task that already exists, such as a task that another process has created. */
  run(taskId: string): Run {
    return new Run(this.transport, taskId);
  }

  /**
   * The states of all tasks of the key: the unfinished ones first, then every change, until the signal aborts the
   * iteration.
   * @param patienceMs how long the service may be unreachable before the iteration ends with an error, by default five
   *   minutes
   */
  events({ signal, patienceMs }: { signal?: AbortSignal; patienceMs?: number } = {}): AsyncGenerator<Task> {
    const more = patienceMs === undefined ? {} : { patienceMs };
    const followed = { id: 'all tasks', events: '/v1/events', isFinal: () => false, read: null, ...more };
    return follow<Task>(this.transport, followed, signal);
  }
}
