import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Sql } from '../platform/database/sql.ts';
import { DatabaseFacts } from '../platform/database/database-facts.ts';
import { PURGE_LAG } from '../platform/observe/measuring/purge-metrics.ts';
import {
  EXPIRED_EVENT_FACT,
  MOST_COUNTED,
  WATCH_COUNTS,
  WEBHOOK_FACT,
  type WebhookCounts,
} from './sql/webhook-facts.ts';

const DISPATCHES = {
  name: 'darkroom_webhook_dispatches',
  help: `Deliveries of all processes that are due, under way, or wait for their next attempt; each counted up to ${MOST_COUNTED}.`,
  labels: ['state'],
} as const;
const OLDEST = {
  name: 'darkroom_webhook_oldest_due_seconds',
  help: 'Seconds for which the oldest due delivery has been due; 0 without one.',
  labels: [],
} as const;
const ENDPOINTS = {
  name: 'darkroom_webhook_endpoints',
  help: 'Webhook endpoints; a failing one has failed since its last success.',
  labels: ['status'],
} as const;

/** The state of the deliveries of all processes, as gauges. */
@Injectable()
export class WebhookGauges implements OnModuleInit {
  constructor(
    private readonly facts: DatabaseFacts,
    private readonly sql: Sql,
  ) {}

  onModuleInit(): void {
    this.facts.gauges(DISPATCHES, WEBHOOK_FACT, ({ due, under_way, waiting }, set) => {
      set({ state: 'due' }, due);
      set({ state: 'under_way' }, under_way);
      set({ state: 'waiting' }, waiting);
    });
    this.facts.gauges(OLDEST, WEBHOOK_FACT, ({ oldest_due }, set) => set({}, oldest_due ?? 0));
    this.facts.gauges(ENDPOINTS, WEBHOOK_FACT, ({ enabled, failing, disabled }, set) => {
      set({ status: 'enabled' }, enabled);
      set({ status: 'failing' }, failing);
      set({ status: 'disabled' }, disabled);
    });
    this.facts.gauges(PURGE_LAG, EXPIRED_EVENT_FACT, ({ events }, set) => set({ what: 'events' }, events ?? 0));
  }

  /** Reads the counts now, for operators. */
  async counts(): Promise<WebhookCounts> {
    return (await this.sql.run<WebhookCounts>(WATCH_COUNTS))[0]!;
  }
}
