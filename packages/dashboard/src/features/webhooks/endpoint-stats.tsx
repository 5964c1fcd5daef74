import { count } from '../../format/numbers.ts';
import { Stats } from '../../parts/stat.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { EndpointStrip } from './endpoint-strip.tsx';
import type { Endpoint } from './webhooks.documents.ts';

/** The figures of the endpoint for the last 24 hours. */
export function EndpointStats({ endpoint }: { endpoint: Endpoint }) {
  const { stats, failingSince } = endpoint;
  const { delivered, failed, waiting, p50Ms, lastAttemptedAt, lastStatusCode } = stats;
  return (
    <Stats
      stats={[
        { label: 'Delivered in 24 h', value: count(delivered) },
        { label: 'Attempts by hour', value: <EndpointStrip endpoint={endpoint} /> },
        {
          label: 'Given up',
          value: count(failed),
          note: failingSince ? (
            <>
              first failure <TimeAgo at={failingSince} />
            </>
          ) : undefined,
        },
        { label: 'Waiting for a retry', value: count(waiting) },
        { label: 'Median answer', value: p50Ms === null ? '–' : `${p50Ms} ms` },
        {
          label: 'Last attempt',
          value: lastAttemptedAt === null ? '–' : (lastStatusCode ?? 'none'),
          note: lastAttemptedAt !== null && <TimeAgo at={lastAttemptedAt} />,
        },
      ]}
    />
  );
}
