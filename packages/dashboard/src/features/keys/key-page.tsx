import { Pencil, RotateCw, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Session } from '../../api/session.ts';
import { count, money, sumWords } from '../../format/numbers.ts';
import { day, moment } from '../../format/time.ts';
import { useQuery } from '../../live/use-query.ts';
import { AbsentPage } from '../../parts/absent-page.tsx';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Id } from '../../parts/id.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import stat from '../../parts/stat.module.css';
import { Stats } from '../../parts/stat.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { type Key, OneKey } from './keys.documents.ts';
import styles from './keys.module.css';
import { LIMITS, limitText } from './limits.ts';
import { scopeName } from './scopes.ts';
import { useKeyActs } from './use-key-acts.tsx';

const DAY = 86_400;
const PERIODS = { DAY: 'a day', MONTH: 'a month', TOTAL: 'in all' };

interface Props {
  keyId: string;
  own: Session['api_key'];
  onRevoked(): void;
}

/** One key: its scopes, its limits and, if the session may read usage, its usage of the last 24 hours. */
export function KeyPage({ keyId, own, onRevoked }: Props) {
  const [since] = useState(() => Math.floor(Date.now() / 1_000) - DAY);
  const withUsage = keyId !== own.id || own.scopes.includes('tasks:read');
  const { data, error, reload } = useQuery(OneKey, { id: keyId, since, withUsage });
  const acts = useKeyActs(own, (revoked) => (revoked ? onRevoked() : void reload()));
  if (error?.code === 'api_key_not_found') {
    return (
      <AbsentPage title="API key" absent="No API key has this id" to="/keys" screen="API keys">
        It may have been revoked.
      </AbsentPage>
    );
  }
  const key = data?.apiKey;
  if (!key) {
    return (
      <Page title="API key">
        {error ? <ErrorPanel error={error} onRetry={() => void reload()} /> : <Skeleton height={320} />}
      </Page>
    );
  }
  const { usage } = data;
  const currency = usage?.currency ?? 'USD';
  return (
    <Page
      title={<bdi>{key.name}</bdi>}
      sub={<span className="mono">{key.hint}</span>}
      actions={
        <>
          <Button onClick={() => acts.start('edit', key)}>
            <Pencil aria-hidden /> Edit
          </Button>
          <Button onClick={() => acts.start('rotate', key)}>
            <RotateCw aria-hidden /> Rotate
          </Button>
          <Button variant="danger" onClick={() => acts.start('revoke', key)}>
            <Trash2 aria-hidden /> Revoke
          </Button>
        </>
      }
    >
      {usage && (
        <Stats
          stats={[
            { label: 'Tasks in 24 h', value: count(usage.totals.tasks) },
            { label: 'Succeeded', value: count(usage.totals.succeeded) },
            { label: 'Failed', value: count(usage.totals.failed) },
            { label: 'Cost in 24 h', value: sumWords(usage.totals, currency) },
          ]}
        />
      )}
      <div className={styles.columns}>
        <section className={stat.card} aria-label="Facts">
          <h2>What it may do</h2>
          <Facts
            facts={[
              ['id', <Id key="id" id={key.id} />],
              [
                'scopes',
                <span key="scopes" className={stat.scopes}>
                  {key.scopes.map((scope) => (
                    <span key={scope} className={stat.chip}>
                      {scopeName(scope)}
                    </span>
                  ))}
                </span>,
              ],
              ['models', key.models?.join(', ') ?? 'every open one'],
              [
                'created',
                <time key="made" dateTime={new Date(key.createdAt * 1_000).toISOString()}>
                  {moment(key.createdAt)}
                </time>,
              ],
              ['used', key.lastUsedAt ? <TimeAgo key="used" at={key.lastUsedAt} /> : 'never'],
              ['expires', key.expiresAt ? day(key.expiresAt) : 'never'],
            ]}
          />
        </section>
        <section className={stat.card} aria-label="Limits">
          <h2>How much</h2>
          <Facts
            facts={[
              ...LIMITS.map((limit): [string, ReactNode] => [limit.label, limitText(limit, key.limits[limit.name])]),
              ['Budget', budgetText(key, currency)],
            ]}
          />
        </section>
      </div>
      {acts.dialog}
    </Page>
  );
}

function Facts({ facts }: { facts: readonly [string, ReactNode][] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function budgetText({ limits: { budget }, budgetStatus }: Key, currency: string): string {
  if (!budget) return 'none';
  const amount = `${money(budget.amountMicros, currency)} ${PERIODS[budget.period]}`;
  if (!budgetStatus) return amount;
  const used = `${money(budgetStatus.spentMicros, currency)} spent, ${money(budgetStatus.reservedMicros, currency)} reserved`;
  return `${amount}: ${used}`;
}
