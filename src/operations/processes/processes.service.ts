import { Injectable } from '@nestjs/common';
import type { Actor } from '../../auth/audit/actor.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Bus } from '../../platform/events/bus.ts';
import { ProcessRows, requestDrain } from './sql/process-rows.ts';
import { PROCESS_TOPIC } from './process-state.ts';
import { type ProcessView, toProcessView } from './process.view.ts';

/** Shows operators the processes, and lets them drain a process. */
@Injectable()
export class ProcessesService {
  private readonly listeners: ((id: string) => void)[] = [];

  constructor(
    private readonly rows: ProcessRows,
    private readonly audit: AuditLog,
    private readonly bus: Bus,
  ) {}

  async list(): Promise<ProcessView[]> {
    return (await this.rows.list()).map(toProcessView);
  }

  /** @throws ApiError process_not_found */
  async find(id: string): Promise<ProcessView> {
    const row = isProcessId(id) ? await this.rows.find(id) : null;
    if (!row) throw new ApiError('process_not_found');
    return toProcessView(row);
  }

  /**
   * With `on`, makes a process claim no more tasks. Without it, makes the process claim again. Running tasks go on to
   * their end.
   * @throws ApiError process_not_found; invalid_value for a process without a worker
   */
  async drain(id: string, on: boolean, by: Actor): Promise<ProcessView> {
    if (!isProcessId(id)) throw new ApiError('process_not_found');
    await this.audit.transaction(by, async (tx, record) => {
      const before = await requestDrain(tx, id, on);
      if (!before) throw new ApiError('process_not_found');
      if (before.role === 'api') {
        throw new ApiError('invalid_value', {
          param: 'id',
          message: 'This process has no worker: it claims no tasks.',
        });
      }
      if (before.drain_requested === on) return;
      await record({
        action: on ? 'process.drain_requested' : 'process.resumed',
        target: { type: 'process', id },
        before: { drain_requested: before.drain_requested },
        after: { drain_requested: on },
      });
    });
    this.announce(id);
    return this.find(id);
  }

  /** Tells the processes that an operator has asked something of one process, or of all. Call it after the commit. */
  announce(id: string): void {
    this.changed(id);
    this.bus.publish(PROCESS_TOPIC, id);
  }

  /** @param listener called when an operator asks something of a process, through this process or another one */
  onChange(listener: (id: string) => void): void {
    if (this.listeners.length === 0) this.bus.subscribe(PROCESS_TOPIC, (ids) => ids.forEach((id) => this.changed(id)));
    this.listeners.push(listener);
  }

  private changed(id: string): void {
    for (const listener of this.listeners) listener(id);
  }
}

/**
 * An id has the host, the process and a random part. Other texts are refused, because PostgreSQL cannot take some of
 * them, such as one with NUL.
 */
const isProcessId = (id: string): boolean => /^[\w.:-]{1,300}$/.test(id);
