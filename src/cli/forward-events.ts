import type { TaskView } from '../tasks/task.view.ts';
import { newEndpointSecret } from '../webhooks/endpoints/endpoint-secret.ts';
import { eventTypeOf, taskEventBody } from '../webhooks/events/event-body.ts';
import { EVENT_TYPES } from '../webhooks/events/event-type.ts';
import { signedHeaders } from '../webhooks/deliveries/signature.ts';
import { newEventId } from '../webhooks/webhook-id.ts';
import { liveEvents } from './client/live-events.ts';

const TIMEOUT_MS = 15_000; // as the service's own
/** A resumed stream may tell an end again; so many are remembered. */
const REMEMBERED = 10_000;

interface ListenOptions {
  forwardTo: string;
  events?: string[];
  secret?: string;
  url: string;
  key: string | undefined;
}

/**
 * Follows the live feed and sends every end of a task to a local address, as the service would: same body, same signature,
 * an id of its own. One attempt each; what came of it is printed.
 * @throws Error when the service refuses the key, or an option makes no sense
 */
export async function listen(options: ListenOptions, signal: AbortSignal): Promise<void> {
  const { key, forwardTo, url, events = [...EVENT_TYPES] } = options;
  if (!key) throw new Error('No API key: set DARKROOM_API_KEY, or give --key.');
  const target = URL.parse(forwardTo);
  if (!target || !/^https?:$/.test(target.protocol)) throw new Error(`--forward-to is no http(s) URL: ${forwardTo}`);
  const unknown = events.find((type) => !EVENT_TYPES.some((known) => known === type));
  if (unknown !== undefined) throw new Error(`No event "${unknown}"; there are ${EVENT_TYPES.join(' and ')}.`);
  const secret = options.secret ?? newEndpointSecret();
  signedHeaders('', '', [secret]); // a secret that cannot sign is told now

  console.error(`Signing secret: ${secret}`);
  const told = new Set<string>();
  const onOpen = () => console.error(`Listening at ${url}, forwarding to ${target.href}`);
  for await (const task of liveEvents<TaskView>({ url, key }, signal, onOpen)) {
    if (task.completed_at === 0 || told.has(task.task_id) || !events.includes(eventTypeOf(task))) continue;
    told.add(task.task_id);
    if (told.size > REMEMBERED) told.delete(told.values().next().value as string);
    void forward(task, target, secret); // one that hangs holds up no other
  }
}

async function forward(task: TaskView, target: URL, secret: string): Promise<void> {
  const id = newEventId();
  const body = taskEventBody(id, task, new Date(task.completed_at * 1000));
  const startedAt = performance.now();
  const outcome = await send(target, body, signedHeaders(id, body, [secret]));
  const ms = Math.round(performance.now() - startedAt);
  console.log(`${eventTypeOf(task)}  ${id}  ${task.task_id}  ${outcome}  ${ms} ms`);
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
