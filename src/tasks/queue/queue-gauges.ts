import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DatabaseFacts } from '../../platform/database/database-facts.ts';
import { PURGE_LAG } from '../../platform/observe/measuring/purge-metrics.ts';
import { EXPIRED_FACT, QUEUE_FACT } from '../sql/queue-facts.ts';
import { Purge } from './purge.ts';

const TASKS = {
  name: 'darkroom_queue_tasks',
  help: 'Unfinished tasks of all processes. Those of an API key that runs as many as it may are `parked`.',
  labels: ['state'],
} as const;
const OLDEST = {
  name: 'darkroom_queue_oldest_seconds',
  help: 'Age of the oldest task that waits for a worker, or for a place of its API key; 0 without one.',
  labels: ['state'],
} as const;
const KEYS = { name: 'darkroom_queue_keys', help: 'API keys with tasks that wait.', labels: [] } as const;

/** Gauges of the queue, over all processes. */
@Injectable()
export class QueueGauges implements OnModuleInit {
  constructor(
    private readonly facts: DatabaseFacts,
    private readonly purge: Purge,
  ) {}

  onModuleInit(): void {
    this.facts.gauges(TASKS, QUEUE_FACT, ({ waiting, parked, running }, set) => {
      set({ state: 'waiting' }, waiting);
      set({ state: 'parked' }, parked);
      set({ state: 'running' }, running);
    });
    this.facts.gauges(OLDEST, QUEUE_FACT, ({ oldest_waiting, oldest_parked }, set) => {
      set({ state: 'waiting' }, oldest_waiting ?? 0);
      set({ state: 'parked' }, oldest_parked ?? 0);
    });
    this.facts.gauges(KEYS, QUEUE_FACT, ({ keys }, set) => set({}, keys));
    this.facts.gauges(PURGE_LAG, EXPIRED_FACT, ({ files, tasks }, set) => {
      set({ what: 'files' }, files ?? 0);
      set({ what: 'tasks' }, tasks ?? 0);
      set({ what: 'idempotency_keys' }, this.purge.idempotencyLagS);
    });
  }
}
