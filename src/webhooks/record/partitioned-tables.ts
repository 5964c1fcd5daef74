import type { Partitioned } from '../../platform/database/partitions/partitioned.ts';

/** The tables of this room that are in partitions. What belongs to an event is in the partitions of its id. */
export const EVENT_TABLES: Partitioned = {
  prefix: 'evt',
  tables: [
    { name: 'webhook_events', key: 'id' },
    { name: 'webhook_dispatches', key: 'event_id' },
    { name: 'webhook_deliveries', key: 'event_id' },
  ],
};
