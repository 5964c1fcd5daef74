import type { VariablesOf } from '../../api/graphql.ts';
import { eventTypeOf } from './event-name.ts';
import type { Deliveries } from './webhooks.documents.ts';

/** What the address of a log says; every field as text. */
export interface DeliverySearch {
  outcome?: string;
  event?: string;
  task?: string;
  from?: string;
  to?: string;
}

type Filter = NonNullable<VariablesOf<typeof Deliveries>['filter']>;

const OUTCOMES = ['delivered', 'failed', 'waiting'] as const;

/** The filter of the API. What the address has misspelt is left out. */
export function deliveryFilterOf({ outcome, event, task, from, to }: DeliverySearch): Filter {
  const filter: Filter = {};
  if ((OUTCOMES as readonly string[]).includes(outcome ?? '')) filter.outcome = outcome!.toUpperCase() as 'FAILED';
  const type = eventTypeOf(event);
  if (type) filter.eventType = type;
  if (/^task_[0-9a-z]{26}$/.test(task ?? '')) filter.taskId = task!;
  if (Number(from) > 0) filter.since = Number(from);
  if (Number(to) > 0) filter.until = Number(to);
  return filter;
}

export const isFiltered = (search: DeliverySearch): boolean => Object.keys(deliveryFilterOf(search)).length > 0;
