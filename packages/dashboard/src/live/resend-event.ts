import { mutate, run } from '../api/client.ts';
import { attemptWords } from '../format/attempt.ts';
import { plural } from '../format/numbers.ts';
import { type EventAttempt, EventAttempts, ResendEvent } from './resend.documents.ts';

/** The pauses between reads of the answers. Together they are about as long as the time limit of one attempt. */
const LOOK_MS = [300, 500, 1_000, 1_000, 2_000, 2_000, 3_000, 5_000];

interface Resent {
  /** The answers of the receivers, in words. */
  text: string;
  bad: boolean;
}

/**
 * Sends an event again and waits for the answers of the receivers, because sending alone is no success.
 * @param endpointId null: to every endpoint that receives this event
 * @param onSent called when the event is on its way
 */
export async function resendEvent(id: string, endpointId: string | null, onSent: () => void): Promise<Resent> {
  const known = new Set((await attemptsOf(id)).map((attempt) => attempt.id));
  const { endpoints } = (await mutate(ResendEvent, { id, endpointId })).redeliverWebhookEvent;
  if (endpoints === 0) return { text: 'No enabled endpoint takes this event.', bad: true };
  onSent();
  const answers = await answersOf(id, known, endpoints);
  const out = endpoints - answers.length;
  const words = answers.map(attemptWords);
  if (out > 0) words.push(out === 1 ? 'no answer yet' : `${plural(out, 'endpoint')} without an answer yet`);
  return { text: `Sent again: ${words.join(', ')}.`, bad: answers.some(({ error }) => error !== null) };
}

const attemptsOf = async (id: string): Promise<EventAttempt[]> =>
  (await run(EventAttempts, { id })).webhookEvent.deliveries;

/** The new attempts that have ended, one for each endpoint; fewer if an attempt takes too long. */
async function answersOf(id: string, known: ReadonlySet<string>, endpoints: number): Promise<EventAttempt[]> {
  let answers: EventAttempt[] = [];
  for (const pauseMs of LOOK_MS) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    answers = (await attemptsOf(id)).filter(
      (attempt) => attempt.trigger === 'MANUAL' && attempt.attemptedAt !== null && !known.has(attempt.id),
    );
    if (answers.length >= endpoints) break;
  }
  return answers;
}
