import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { onFeed } from '../../live/task-feed.ts';
import type { TaskRow } from '../../live/task-store.ts';
import { useTask } from '../../live/use-task.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Lamp } from '../../parts/lamp.tsx';
import { Page } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import styles from '../../parts/stat.module.css';
import { StatusChip } from '../../parts/status-chip.tsx';
import { type Recipe, recipe, RECIPES } from './recipes.ts';

/** How far the clocks of the service and of the browser may differ. */
const CLOCK_SKEW_S = 3;

interface Props {
  mayRead: boolean;
  mayManageKeys: boolean;
}

/** Shows how an app calls this instance, and the task of the app when it arrives. */
export function ConnectPage({ mayRead, mayManageKeys }: Props) {
  const [chosen, setChosen] = useState<Recipe>('curl');
  const baseUrl = location.origin;
  const code = recipe(chosen, baseUrl);
  return (
    <Page title="Connect">
      <section className={styles.card} aria-label="Base URL">
        <h2>1. The address and the key</h2>
        <div className={styles.row}>
          <code>{baseUrl}</code>
          <CopyButton text={baseUrl} label="Copy base URL" />
        </div>
        <p className={styles.muted}>
          Every call carries an API key.{' '}
          {mayManageKeys ? (
            <Link to="/keys">Make one for your app</Link>
          ) : (
            'A key with keys:manage can make one for your app'
          )}
          , and put it into the environment as <code>DARKROOM_API_KEY</code>.
        </p>
      </section>
      <section className={styles.card} aria-label="First request">
        <div className={styles.row}>
          <h2>2. The first request</h2>
          <CopyButton text={code} />
        </div>
        <Segments<Recipe> label="Client" value={chosen} options={RECIPES} onChange={setChosen} />
        <CodeBlock code={code} label={`First request with ${chosen}`} />
      </section>
      {mayRead && (
        <section className={styles.card} aria-label="Try it">
          <h2>3. See it arrive</h2>
          <Arrival />
        </section>
      )}
    </Page>
  );
}

/** Waits for a new task of this key and shows it live. */
function Arrival() {
  const [arrived, setArrived] = useState<TaskRow | null>(null);
  useEffect(() => {
    // The feed begins with the unfinished tasks. Those that are older than this page are left out.
    const since = Date.now() / 1_000 - CLOCK_SKEW_S;
    return onFeed((_, added) => {
      const newest = added.find(({ createdAt }) => createdAt >= since);
      if (newest) setArrived(newest);
    });
  }, []);
  const row = useTask(arrived?.taskId ?? null);
  if (!row) {
    return (
      <p className={styles.row} role="status">
        <Lamp lit /> Waiting for a request with this key. Run the code above.
      </p>
    );
  }
  return (
    <p className={styles.row} role="status">
      <StatusChip status={row.status} progress={row.progress} errorCode={row.error?.code} />
      <span>{row.model}</span>
      <Link to="/tasks/$taskId" params={{ taskId: row.taskId }}>
        Open the task
      </Link>
    </p>
  );
}
