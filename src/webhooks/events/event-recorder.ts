import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/sql.ts';
import { DeliverySignal } from '../deliveries/delivery-signal.ts';
import { InsertEvents } from '../sql/insert-events.ts';
import { newEventId } from '../webhook-id.ts';
import { fittingEventBody } from './event-body.ts';
import type { EventType } from './event-type.ts';

/** An event that is about no task. */
export interface OtherEvent<Data extends object> {
  apiKeyId: string;
  type: EventType;
  data: Data;
  /** Fields of the data that are left out, in this order, if the body would be too long. */
  removedFirst: readonly (keyof Data)[];
  createdAt: Date;
  /** When the event is deleted. */
  expiresAt: Date;
}

/** Writes the events of other rooms in the transaction that causes them. */
@Injectable()
export class EventRecorder {
  constructor(
    private readonly insert: InsertEvents,
    private readonly signal: DeliverySignal,
  ) {}

  /** @returns call it after the commit: it sends what is due */
  async record<Data extends object>(tx: Tx, event: OtherEvent<Data>): Promise<() => void> {
    const { apiKeyId, type, data, removedFirst, createdAt, expiresAt } = event;
    const subscriptions = await this.insert.subscriptions(tx, [apiKeyId]);
    if (!subscriptions.has(`${apiKeyId} ${type}`)) return () => undefined;
    const id = newEventId();
    const body = fittingEventBody({ id, type, data, at: createdAt }, removedFirst);
    const row = { id, api_key_id: apiKeyId, task_id: null, type, body, created_at: createdAt, expires_at: expiresAt };
    const endpointIds = await this.insert.insert(tx, [row]);
    return () => this.signal.notify(endpointIds);
  }
}
