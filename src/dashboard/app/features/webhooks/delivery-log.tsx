import { useState, useSyncExternalStore } from 'react';
import { nowS, onTick } from '../../format/clock.ts';
import { shortId } from '../../format/id.ts';
import { clockTime, duration, moment } from '../../format/time.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Segments } from '../../parts/segments.tsx';
import { ATTEMPT_FAULTS, eventName } from './event-name.ts';
import styles from './webhooks.module.css';
import type { Delivery } from './webhooks.documents.ts';

type Outcome = 'all' | 'delivered' | 'failed' | 'waiting';

interface Props {
  deliveries: readonly Delivery[];
  onResend(eventId: string): void;
}

const OUTCOMES: readonly { value: Outcome; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
  { value: 'waiting', label: 'Waiting' },
];

/** A row an event, with its attempts inside. */
export function DeliveryLog({ deliveries, onResend }: Props) {
  const [shown, setShown] = useState<Outcome>('all');
  const events = [...Map.groupBy(deliveries, ({ eventId }) => eventId)].filter(
    ([, attempts]) => shown === 'all' || outcomeOf(attempts) === shown,
  );
  return (
    <>
      <Segments<Outcome> label="Outcome" value={shown} options={OUTCOMES} onChange={setShown} />
      {events.length === 0 && (
        <EmptyState title={shown === 'all' ? 'Nothing was sent yet' : 'No event of this outcome among the newest'}>
          {shown === 'all' && 'Send a test, or make something.'}
        </EmptyState>
      )}
      <div className={styles.log}>
        {events.map(([eventId, attempts]) => (
          <Event key={eventId} eventId={eventId} attempts={attempts} onResend={() => onResend(eventId)} />
        ))}
      </div>
    </>
  );
}

function Event({ eventId, attempts, onResend }: { eventId: string; attempts: Delivery[]; onResend(): void }) {
  const [newest] = attempts;
  if (!newest) return null;
  const outcome = outcomeOf(attempts);
  return (
    <div className={styles.event}>
      <details>
        <summary>
          <span className={styles[outcome]}>
            {outcome === 'delivered'
              ? `${newest.statusCode} in ${newest.durationMs} ms`
              : outcome === 'waiting' && !newest.attemptedAt
                ? 'Waiting'
                : (newest.statusCode ?? 'No answer')}
          </span>
          <span>{eventName(newest.eventType)}</span>
          <span className="mono" title={eventId}>
            {shortId(eventId)}
          </span>
          <span className={styles.quiet}>
            {attempts.length} {attempts.length === 1 ? 'try' : 'tries'}
            {newest.nextAttemptAt && outcome !== 'delivered' && <Next at={newest.nextAttemptAt} />}
          </span>
        </summary>
        <ol className={styles.attempts}>
          {attempts.map((attempt) => (
            <li key={attempt.id}>
              <p>
                try {attempt.attempt}, {attempt.trigger.toLowerCase()}
                {attempt.attemptedAt && (
                  <time
                    title={moment(attempt.attemptedAt)}
                    dateTime={new Date(attempt.attemptedAt * 1_000).toISOString()}
                  >
                    {' '}
                    at {clockTime(attempt.attemptedAt)}
                  </time>
                )}
                {attempt.error && `: ${ATTEMPT_FAULTS[attempt.error] ?? attempt.error}`}
              </p>
              {attempt.responseSnippet && <CodeBlock code={attempt.responseSnippet} label="Response" />}
            </li>
          ))}
        </ol>
      </details>
      {newest.eventType !== 'WEBHOOK_TEST' && <Button onClick={onResend}>Resend</Button>}
    </div>
  );
}

function Next({ at }: { at: number }) {
  const now = useSyncExternalStore(onTick, nowS);
  return <>, next {at > now ? `in ${duration(at - now)}` : 'now'}</>;
}

function outcomeOf([newest]: readonly Delivery[]): Exclude<Outcome, 'all'> {
  if (newest?.attemptedAt && !newest.error) return 'delivered';
  return !newest?.attemptedAt || newest.nextAttemptAt ? 'waiting' : 'failed';
}
