import type { VariablesOf } from '../../api/graphql.ts';
import { unixOf } from '../../format/time.ts';
import { eventTypeOf } from './event-name.ts';
import type { Deliveries } from './webhooks.documents.ts';

/** The parameters of the address of a log, all as text. */
export interface DeliverySearch {
  outcome?: string;
  event?: string;
  task?: string;
  from?: string;
  to?: string;
}

type Filter = NonNullable<VariablesOf<typeof Deliveries>['filter']>;

const OUTCOMES = ['delivered', 'failed', 'waiting'] as const;

/** The filter for the API. Misspelt parameters are left out. */
export function deliveryFilterOf({ outcome, event, task, from, to }: DeliverySearch): Filter {
  const filter: Filter = {};
  if ((OUTCOMES as readonly string[]).includes(outcome ?? '')) filter.outcome = outcome!.toUpperCase() as 'FAILED';
  const type = eventTypeOf(event);
  if (type) filter.eventType = type;
  if (/^task_[0-9a-z]{26}$/.test(task ?? '')) filter.taskId = task!;
  const [since, until] = [unixOf(from), unixOf(to)];
  if (since !== null) filter.since = Math.floor(since);
  if (until !== null) filter.until = Math.floor(until);
  return filter;
}

export const isFiltered = (search: DeliverySearch): boolean => Object.keys(deliveryFilterOf(search)).length > 0;
