import { Link } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { useQuery } from '../../live/use-query.ts';
import { useChanges } from '../../live/use-changes.ts';
import { moment } from '../../format/time.ts';
import { AbsentPage } from '../../parts/absent-page.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Id } from '../../parts/id.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { AttemptDetails } from './attempt-details.tsx';
import { eventName } from './event-name.ts';
import { NextAttempt } from './next-attempt.tsx';
import { outcomeOf } from './outcome.ts';
import { useResend } from './use-resend.ts';
import styles from './webhooks.module.css';
import { Delivered, OneEvent } from './webhooks.documents.ts';

interface Props {
  /** null: the event at all endpoints. */
  endpointId: string | null;
  eventId: string;
}

/** One event: its body, and each attempt with request and response. */
export function EventPage({ endpointId, eventId }: Props) {
  const { data, error, reload } = useQuery(OneEvent, { id: eventId });
  useChanges(Delivered, { endpointId }, () => void reload());
  const resend = useResend(() => void reload());
  if (error?.code === 'webhook_event_not_found') {
    return (
      <AbsentPage title="Webhook event" absent="No event of yours has this id" to="/webhooks" screen="Webhooks">
        Events are deleted with their tasks.
      </AbsentPage>
    );
  }
  const event = data?.webhookEvent;
  if (!event) {
    return (
      <Page title="Webhook event">
        {error ? <ErrorPanel error={error} onRetry={() => void reload()} /> : <Skeleton height={320} />}
      </Page>
    );
  }
  const attempts = event.deliveries.filter((each) => endpointId === null || each.endpointId === endpointId);
  const [newest] = attempts;
  return (
    <Page
      title={eventName(event.type)}
      sub={<Id id={event.id} />}
      actions={
        event.type !== 'WEBHOOK_TEST' && (
          <Button variant="primary" onClick={() => void resend(event.id, endpointId)}>
            <RotateCcw aria-hidden /> Resend
          </Button>
        )
      }
    >
      <p className={styles.links}>
        <time dateTime={new Date(event.createdAt * 1_000).toISOString()}>{moment(event.createdAt)}</time>
        {event.taskId && (
          <Link to="/tasks/$taskId" params={{ taskId: event.taskId }}>
            Open its task
          </Link>
        )}
        {endpointId && (
          <Link to="/webhooks/$endpointId" params={{ endpointId }}>
            Log of the endpoint
          </Link>
        )}
      </p>
      <div className={styles.columns}>
        <section aria-label="Attempts" className={styles.tries}>
          <h2>
            Attempts{' '}
            {newest?.nextAttemptAt && outcomeOf(newest) === 'waiting' && (
              <span className={styles.waiting}>
                <NextAttempt at={newest.nextAttemptAt} />
              </span>
            )}
          </h2>
          {attempts.length === 0 && <p className={styles.quiet}>The first attempt has not ended yet.</p>}
          {attempts.map((attempt) => (
            <AttemptDetails key={attempt.id} attempt={attempt} />
          ))}
        </section>
        <section aria-label="Body" className={styles.tries}>
          <h2>
            Body <CopyButton small label="Copy the body" text={event.body} />
          </h2>
          <CodeBlock code={indented(event.body)} label="Body of the event" />
        </section>
      </div>
    </Page>
  );
}

/** The body, indented for reading only. The copy button gives the signed bytes. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
