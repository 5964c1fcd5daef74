import { attemptWords } from '../../format/attempt.ts';
import { clockTime, moment } from '../../format/time.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ATTEMPT_FAULTS } from './event-name.ts';
import { outcomeOf } from './outcome.ts';
import styles from './webhooks.module.css';
import type { Delivery } from './webhooks.documents.ts';

/** One attempt: its request, and the answer. */
export function AttemptDetails({ attempt }: { attempt: Delivery }) {
  const { attemptedAt, url, responseSnippet, statusCode } = attempt;
  const headers = headerLines(attempt.requestHeaders);
  return (
    <article className={styles.attempt} aria-label={`Try ${attempt.attempt}`}>
      <h3 className={styles.attemptHead}>
        <span className={styles[attempt.error ? 'failed' : outcomeOf(attempt)]}>{attemptWords(attempt)}</span>
        <span>try {attempt.attempt}</span>
        <span className={styles.quiet}>{attempt.trigger.toLowerCase()}</span>
        {attemptedAt && (
          <time
            className={styles.quiet}
            title={moment(attemptedAt)}
            dateTime={new Date(attemptedAt * 1_000).toISOString()}
          >
            {clockTime(attemptedAt)}
          </time>
        )}
      </h3>
      {attempt.error && <p>{ATTEMPT_FAULTS[attempt.error]}</p>}
      <div className={styles.exchange}>
        <section aria-label={`Request of try ${attempt.attempt}`}>
          <h4>Request {headers && <CopyButton small label="Copy the request headers" text={headers} />}</h4>
          {url && (
            <p className="mono">
              POST <bdi>{url}</bdi>
            </p>
          )}
          {headers ? (
            <CodeBlock code={headers} label={`Request headers of try ${attempt.attempt}`} />
          ) : (
            <p className={styles.quiet}>Its headers were not kept.</p>
          )}
        </section>
        <section aria-label={`Response of try ${attempt.attempt}`}>
          <h4>Response {responseSnippet && <CopyButton small label="Copy the response" text={responseSnippet} />}</h4>
          <p className="mono">
            {statusCode === null
              ? 'none'
              : `${statusCode}${attempt.durationMs === null ? '' : ` in ${attempt.durationMs} ms`}`}
          </p>
          {responseSnippet ? (
            <CodeBlock code={responseSnippet} label={`Response of try ${attempt.attempt}`} />
          ) : (
            <p className={styles.quiet}>{bodyWords(attempt)}</p>
          )}
        </section>
      </div>
    </article>
  );
}

/** Why no body is shown. */
function bodyWords({ statusCode, responseSnippet }: Delivery): string {
  if (statusCode === null) return 'Nothing came back.';
  if (responseSnippet === '') return 'Its body was empty.';
  return 'Its body was not kept: it broke off, or only OUTBOUND_ALLOW_CIDRS allows this address. WEBHOOK_KEEP_EXCEPTED_RESPONSES=true keeps such answers.';
}

function headerLines(headers: unknown): string | null {
  if (typeof headers !== 'object' || headers === null) return null;
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join('\n');
}
