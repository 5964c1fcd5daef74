import { Link } from '@tanstack/react-router';
import { attemptWords } from '../../format/attempt.ts';
import { shortId } from '../../format/id.ts';
import { plural } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { AttemptDetails } from './attempt-details.tsx';
import { eventName } from './event-name.ts';
import { NextAttempt } from './next-attempt.tsx';
import { outcomeOf } from './outcome.ts';
import styles from './webhooks.module.css';
import type { Delivery } from './webhooks.documents.ts';

interface Props {
  deliveries: readonly Delivery[];
  mayResend: boolean;
  onResend(eventId: string): void;
}

/** One row for each event, with its attempts inside. */
export function DeliveryLog({ deliveries, mayResend, onResend }: Props) {
  const events = Map.groupBy(deliveries, ({ eventId }) => eventId);
  return (
    <div className={styles.log}>
      {[...events].map(([eventId, attempts]) => (
        <EventRow key={eventId} attempts={attempts} onResend={mayResend ? () => onResend(eventId) : null} />
      ))}
    </div>
  );
}

function EventRow({ attempts, onResend }: { attempts: Delivery[]; onResend: (() => void) | null }) {
  const [newest] = attempts;
  if (!newest) return null;
  const { endpointId, eventId, taskId, nextAttemptAt } = newest;
  const outcome = outcomeOf(newest);
  return (
    <div className={styles.event}>
      <details>
        <summary>
          <span className={styles[outcome]}>{attemptWords(newest)}</span>
          <span>{eventName(newest.eventType)}</span>
          <span className="mono" title={taskId ?? eventId}>
            {shortId(taskId ?? eventId)}
          </span>
          <span className={styles.quiet}>
            {plural(newest.attempt, 'try', 'tries')}
            {nextAttemptAt && outcome === 'waiting' && (
              <>
                , <NextAttempt at={nextAttemptAt} />
              </>
            )}
          </span>
          {newest.attemptedAt && (
            <span className={styles.quiet}>
              <TimeAgo at={newest.attemptedAt} />
            </span>
          )}
        </summary>
        <div className={styles.attempts}>
          <p className={styles.links}>
            <Link to="/webhooks/$endpointId/events/$eventId" params={{ endpointId, eventId }}>
              Open the event
            </Link>
            {taskId && (
              <Link to="/tasks/$taskId" params={{ taskId }}>
                Open its task
              </Link>
            )}
          </p>
          {attempts.map((attempt) => (
            <AttemptDetails key={attempt.id} attempt={attempt} />
          ))}
        </div>
      </details>
      {newest.eventType !== 'WEBHOOK_TEST' && (
        <Button
          disabled={!onResend}
          title={onResend ? undefined : 'The endpoint is disabled'}
          onClick={() => onResend?.()}
        >
          Resend
        </Button>
      )}
    </div>
  );
}
