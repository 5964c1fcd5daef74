import { Darkroom } from '@darkroom/client';
import type { TaskView } from '../../tasks/read/task.view.ts';
import { newEndpointSecret } from '../../webhooks/endpoints/endpoint-secret.ts';
import { eventTypeOf, taskEventBody } from '../../webhooks/record/event-body.ts';
import { TASK_EVENT_TYPES } from '../../webhooks/record/event-type.ts';
import { signedHeaders } from '../../webhooks/deliveries/signature.ts';
import { newEventId } from '../../webhooks/record/webhook-id.ts';
import { requireKey } from './service-options.ts';

const TIMEOUT_MS = 15_000; // the default of WEBHOOK_TIMEOUT_MS
/** A resumed stream may repeat a final state. The ids of this many tasks are kept to skip repetitions. */
const MAX_SEEN = 10_000;

export interface ListenOptions {
  forwardTo: string;
  events?: string[];
  secret?: string;
  url: string;
  key?: string;
  json?: true;
}

/**
 * Follows the event stream. Posts the event of each task that has ended to `forwardTo`, if its type is wanted. The body
 * and the signature scheme are those of the service; the event id is made here. Makes one attempt for each event and
 * prints the outcome.
 * @throws Error when the service refuses the key, or an option is invalid
 */
export async function listen(options: ListenOptions, signal: AbortSignal): Promise<void> {
  const { forwardTo, url, events = [...TASK_EVENT_TYPES] } = options;
  const key = requireKey(options.key);
  const target = URL.parse(forwardTo);
  if (!target || !/^https?:$/.test(target.protocol))
    throw new Error(`--forward-to must be an http(s) URL: ${forwardTo}`);
  const unknown = events.find((type) => !TASK_EVENT_TYPES.some((known) => known === type));
  if (unknown !== undefined)
    throw new Error(`Unknown event "${unknown}". The events are ${TASK_EVENT_TYPES.join(' and ')}.`);
  const secret = options.secret ?? newEndpointSecret();
  signedHeaders('', '', [secret]); // throws now if the secret is not valid

  console.error(`Signing secret: ${secret}`);
  const seen = new Set<string>();
  const opening: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok) console.error(`Listening to ${url}, forwarding to ${target.href}`);
    return response;
  };
  const darkroom = new Darkroom({ baseUrl: url, apiKey: key, fetch: opening });
  for await (const state of untilAborted(darkroom.events({ signal, patienceMs: Infinity }), signal)) {
    const task = state as unknown as TaskView;
    if (task.completed_at === 0 || seen.has(task.task_id) || !events.includes(eventTypeOf(task))) continue;
    seen.add(task.task_id);
    if (seen.size > MAX_SEEN) seen.delete(seen.values().next().value as string);
    // Not awaited, so a receiver that hangs delays no other event.
    void forward(task, target, { secret, json: options.json });
  }
}

/** Ends without an error when the signal aborts. */
async function* untilAborted<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface Forwarding {
  secret: string;
  json: true | undefined;
}

async function forward(task: TaskView, target: URL, { secret, json }: Forwarding): Promise<void> {
  const id = newEventId();
  const body = taskEventBody(id, task, new Date(task.completed_at * 1000));
  const startedAt = performance.now();
  const outcome = await send(target, body, signedHeaders(id, body, [secret]));
  const ms = Math.round(performance.now() - startedAt);
  const type = eventTypeOf(task);
  if (json) return console.log(JSON.stringify({ type, event_id: id, task_id: task.task_id, outcome, duration_ms: ms }));
  console.log(`${type}  ${id}  ${task.task_id}  ${outcome}  ${ms} ms`);
}

async function send(target: URL, body: string, headers: Record<string, string>): Promise<string> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(target, { method: 'POST', body, headers, redirect: 'manual', signal });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'timeout' : 'connect_failed';
  }
}
