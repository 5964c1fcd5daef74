import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import type { Tx } from '../../platform/database/sql.ts';
import { isRestored } from '../../tasks/record/task.entity.ts';
import { DeliverySignal } from '../deliveries/delivery-signal.ts';
import { InsertEvents } from '../sql/insert-events.ts';
import { newEventId } from '../record/webhook-id.ts';
import { fittingEventBody } from '../record/event-body.ts';
import type { EventType } from '../record/event-type.ts';

/** An event that is not about a task. */
export interface OtherEvent<Data extends object> {
  apiKeyId: string;
  type: EventType;
  data: Data;
  /** Fields of the data that are left out, in this order, while the body is too long. */
  removedFirst: readonly (keyof Data)[];
  /**
   * When the reported matter began, such as a batch. A restored service holds events about matters that began before
   * the backup. Missing: `createdAt`.
   */
  begunAt?: Date;
  createdAt: Date;
  /** After this time the event may be deleted. */
  expiresAt: Date;
}

/** Writes events that are not about a task, in the transaction that causes them. */
@Injectable()
export class EventRecorder {
  constructor(
    private readonly insert: InsertEvents,
    private readonly signal: DeliverySignal,
    private readonly config: Config,
  ) {}

  /**
   * Writes the event, if an endpoint of the key subscribes to its type.
   * @returns a function to call after the commit: it signals that deliveries are due
   */
  async record<Data extends object>(tx: Tx, event: OtherEvent<Data>): Promise<() => void> {
    const { apiKeyId, type, data, removedFirst, createdAt, begunAt = createdAt, expiresAt } = event;
    const subscriptions = await this.insert.subscriptions(tx, [apiKeyId]);
    if (!subscriptions.has(`${apiKeyId} ${type}`)) return () => undefined;
    const id = newEventId();
    const body = fittingEventBody({ id, type, data, at: createdAt }, removedFirst);
    const held = isRestored(this.config, begunAt);
    const times = { created_at: createdAt, expires_at: expiresAt };
    const row = { id, api_key_id: apiKeyId, task_id: null, type, body, ...times, held };
    const endpointIds = await this.insert.insert(tx, [row]);
    return () => this.signal.notify(endpointIds);
  }
}
