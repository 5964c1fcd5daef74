import { type ReactNode, useState } from 'react';
import { count, plural } from '../../format/numbers.ts';
import { duration } from '../../format/time.ts';
import { useSubscription } from '../../live/use-subscription.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from '../../parts/stat.module.css';
import { StaleNote } from '../../parts/stale-note.tsx';
import { Stats } from '../../parts/stat.tsx';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { ActDialog, type Owner, type QueueAct } from './act-dialog.tsx';
import { ProcessActs } from './process-acts.tsx';
import { QueueHistory } from './queue-history.tsx';
import { QueueUpdated } from './queue.documents.ts';

/** Minutes over which the service averages its rates. */
const RATE_MINUTES = 5;
const TONES: Record<string, string | undefined> = {
  LIVE: styles.good,
  LATE: styles.warn,
  DRAINING: styles.warn,
  DRAINED: styles.warn,
  LOST: styles.bad,
};

/** The state of the queue and the workers, with the operator's actions. */
export function QueuePage({ mayAct }: { mayAct: boolean }) {
  const { data, staleSince } = useSubscription(QueueUpdated);
  const [asked, setAsked] = useState<QueueAct | null>(null);
  if (!data) {
    return (
      <Page title="Queue and workers">
        <StaleNote since={staleSince} />
        <Skeleton height={100} />
        <Skeleton height={240} />
      </Page>
    );
  }
  const { overview, processes, keys } = data.operationsUpdated;
  const sum = (pick: (row: (typeof overview.queue)[number]) => number) =>
    overview.queue.reduce((total, row) => total + pick(row), 0);
  const oldest = Math.max(0, ...overview.queue.map(({ oldestWaitingS }) => oldestWaitingS ?? 0));
  const slots = processes.filter(({ state }) => state !== 'LOST').reduce((total, each) => total + each.slots, 0);
  const { succeeded, failed } = overview.rates;
  const acts = (cell: ReactNode) => (mayAct ? [cell] : []);
  const actsColumn = mayAct ? [{ label: 'Acts', hidden: true }] : [];
  const cancel = (name: string, filter: Owner) => (
    <Button
      key="acts"
      aria-label={`Cancel the tasks of ${name}`}
      onClick={() => setAsked({ act: 'cancel', name, filter })}
    >
      Cancel…
    </Button>
  );
  return (
    <Page title="Queue and workers" sub="live, every 2 s">
      <StaleNote since={staleSince} />
      <Stats
        stats={[
          {
            label: 'Waiting',
            value: count(sum(({ waiting }) => waiting)),
            note: oldest > 1 ? `oldest ${duration(oldest)}` : undefined,
          },
          { label: 'Running', value: count(sum(({ running }) => running)), note: `of ${count(slots)} places` },
          { label: 'Held by a limit or a pause', value: count(sum(({ parked, paused }) => parked + paused)) },
          {
            label: 'Ended a minute',
            value: ((succeeded + failed) / RATE_MINUTES).toFixed(1),
            note: failed > 0 ? `${plural(failed, 'failure')} in ${RATE_MINUTES} min` : undefined,
          },
        ]}
      />
      <QueueHistory />
      <section className={styles.section}>
        <h2>By model</h2>
        {overview.queue.length === 0 ? (
          <EmptyState title="Nothing waits and nothing runs" />
        ) : (
          <Table
            label="Queue by model"
            columns={[
              { label: 'Model' },
              { label: 'Waiting', number: true },
              { label: 'Held', number: true },
              { label: 'Running', number: true },
              { label: 'Oldest waits', number: true },
              ...actsColumn,
            ]}
            rows={overview.queue.map(({ model, waiting, parked, paused, running, oldestWaitingS }) => ({
              key: model,
              cells: [
                model,
                count(waiting),
                count(parked + paused),
                count(running),
                oldestWaitingS === null ? '–' : duration(oldestWaitingS),
                ...acts(cancel(model, { model })),
              ],
            }))}
          />
        )}
      </section>
      {keys.length > 0 && (
        <section className={styles.section}>
          <h2>By API key</h2>
          <Table
            label="Queue by API key"
            columns={[
              { label: 'Key' },
              { label: 'Queued', number: true },
              { label: 'Running', number: true },
              { label: 'At most', number: true },
              ...actsColumn,
            ]}
            rows={keys.map(({ apiKeyId, name, queued, running, maxRunning }) => ({
              key: apiKeyId,
              cells: [
                <bdi key="name">{name ?? apiKeyId}</bdi>,
                count(queued),
                count(running),
                maxRunning === null ? '–' : maxRunning === 0 ? 'no limit' : count(maxRunning),
                ...acts(queued + running > 0 ? cancel(name ?? apiKeyId, { apiKeyId }) : ''),
              ],
            }))}
          />
        </section>
      )}
      <section className={styles.section}>
        <h2>Processes</h2>
        <Table
          label="Processes"
          columns={[
            { label: 'Host' },
            { label: 'Role' },
            { label: 'State' },
            { label: 'Busy', number: true },
            { label: 'Version' },
            { label: 'Seen' },
            { label: 'Started' },
            ...actsColumn,
          ]}
          rows={processes.map(({ id, host, role, state, busy, slots: own, version, lastSeenAt, startedAt }) => ({
            key: id,
            cells: [
              host,
              role.toLowerCase(),
              <span key="state" className={TONES[state]}>
                ● {state.toLowerCase()}
              </span>,
              own === 0 ? '–' : `${busy} of ${own}`,
              version,
              <TimeAgo key="seen" at={lastSeenAt} />,
              <TimeAgo key="started" at={startedAt} />,
              ...acts(<ProcessActs key="acts" process={{ id, state, busy, slots: own }} onAct={setAsked} />),
            ],
          }))}
        />
      </section>
      {asked && <ActDialog asked={asked} onClose={() => setAsked(null)} />}
    </Page>
  );
}
