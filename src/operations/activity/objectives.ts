import { HEALTH_PATHS } from '../../platform/http/request.ts';
import type { Sample } from '../../platform/observe/measuring/metrics.ts';

/** A service level objective, as deploy/prometheus/rules.yml has it; a test compares the two. */
export interface Objective {
  name: string;
  /** The fraction of the events that may be bad, such as 0.01. */
  budget: number;
  metric: string;
  /** Whether a series of the metric counts events of this objective. */
  isEvent: (labels: Sample['labels']) => boolean;
  /**
   * A number: the time in seconds above which an event is bad. It must be the bound of a bucket of the metric. A
   * function: tells from the labels whether an event is bad.
   */
  isBad: number | ((labels: Sample['labels']) => boolean);
}

const HTTP = 'http_server_request_duration_seconds';
const HEALTH = new Set<unknown>(Object.values(HEALTH_PATHS));

/**
 * Failures of the task that a request has waited for. Most are failures of the provider. The objective `tasks` counts
 * the failures of the service.
 */
const OF_A_TASK =
  /^(generation_timeout|provider_.+|task_.+|content_policy_violation|reference_.+|worker_lost|result_storage_failed)$/;
const OF_THE_SERVICE = /^(internal_error|worker_lost|result_storage_failed)$/;

export const OBJECTIVES: readonly Objective[] = [
  {
    name: 'requests',
    budget: 0.001,
    metric: HTTP,
    isEvent: ({ http_route }) => !HEALTH.has(http_route),
    isBad: ({ http_response_status_code, error_type }) =>
      String(http_response_status_code).startsWith('5') && !OF_A_TASK.test(String(error_type ?? '')),
  },
  {
    name: 'creates',
    budget: 0.01,
    metric: HTTP,
    isEvent: ({ http_request_method, http_route }) =>
      http_request_method === 'POST' && http_route === '/v1/generations',
    isBad: 0.25,
  },
  {
    name: 'reads',
    budget: 0.01,
    metric: HTTP,
    isEvent: ({ http_request_method, http_route }) =>
      http_request_method === 'GET' && http_route === '/v1/tasks/:task_id',
    isBad: 0.1,
  },
  {
    name: 'queue',
    budget: 0.01,
    metric: 'darkroom_task_queue_wait_seconds',
    isEvent: ({ waited_for }) => waited_for === 'capacity',
    isBad: 10,
  },
  {
    name: 'tasks',
    budget: 0.001,
    metric: 'darkroom_tasks_ended_total',
    isEvent: () => true,
    isBad: ({ error_code }) => OF_THE_SERVICE.test(String(error_code ?? '')),
  },
  { name: 'webhooks', budget: 0.01, metric: 'darkroom_webhook_lag_seconds', isEvent: () => true, isBad: 5 },
  { name: 'bus', budget: 0.01, metric: 'darkroom_bus_echo_seconds', isEvent: () => true, isBad: 1 },
];

export interface EventCounts {
  events: number;
  bad: number;
}

/** @param samples all series of the metric, since the start of the process */
export function countEvents({ metric, isEvent, isBad }: Objective, samples: readonly Sample[]): EventCounts {
  const counted = samples.filter(({ labels }) => isEvent(labels));
  const sum = (those: readonly Sample[]) => those.reduce((total, { value }) => total + value, 0);
  const named = (name: string) => counted.filter((sample) => sample.name === name);
  const all = metric.endsWith('_total') ? counted : named(`${metric}_count`);
  const events = sum(all);
  if (typeof isBad === 'function') return { events, bad: sum(all.filter(({ labels }) => isBad(labels))) };
  const inTime = named(`${metric}_bucket`).filter(({ labels }) => Number(labels.le) === isBad);
  return { events, bad: events - sum(inTime) };
}
