import { Ellipsis, KeyRound, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Session } from '../../api/session.ts';
import { count } from '../../format/numbers.ts';
import { day } from '../../format/time.ts';
import { useQuery } from '../../live/use-query.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { MenuButton } from '../../parts/menu-button.tsx';
import { Page } from '../../parts/page.tsx';
import { ShowOnce } from '../../parts/show-once.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from '../../parts/stat.module.css';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { type Key, Keys } from './keys.documents.ts';
import { NewKey } from './new-key.tsx';
import { RevokeKeyDialog } from './revoke-key.tsx';
import { RotateKeyDialog } from './rotate-key.tsx';
import { scopeName } from './scopes.ts';

const COLUMNS = [
  { label: 'Key' },
  { label: 'Scopes' },
  { label: 'Used' },
  { label: 'Expires' },
  { label: 'Running, queued at most', number: true },
  { label: 'Actions', hidden: true },
];

type Act = { what: 'new' } | { what: 'rotate' | 'revoke'; key: Key } | { what: 'show'; secret: string } | null;

/** Who may call this instance. */
export function KeysPage({ own }: { own: Session['api_key'] }) {
  const { data, error, reload } = useQuery(Keys, {});
  const [act, setAct] = useState<Act>(null);
  const keys = data?.apiKeys.edges.map(({ node }) => node) ?? [];
  const show = (secret: string | null) => {
    setAct(secret ? { what: 'show', secret } : null);
    void reload();
  };
  const close = () => setAct(null);
  return (
    <Page
      title="API keys"
      actions={
        <Button variant="primary" onClick={() => setAct({ what: 'new' })}>
          <KeyRound aria-hidden /> New key
        </Button>
      }
    >
      {error && !data && <ErrorPanel error={error} onRetry={() => void reload()} />}
      {!data && !error && <Skeleton height={240} />}
      {data && (
        <Table
          label="API keys"
          columns={COLUMNS}
          rows={keys.map((key) => ({
            key: key.id,
            cells: [
              <div key="name">
                <strong>{key.name}</strong> <span className="mono">{key.hint}</span>
                {key.id === own.id && <div className={styles.muted}>this browser</div>}
              </div>,
              <span key="scopes" className={styles.scopes}>
                {key.scopes.map((scope) => (
                  <span key={scope} className={styles.chip}>
                    {scopeName(scope)}
                  </span>
                ))}
              </span>,
              key.lastUsedAt ? <TimeAgo key="used" at={key.lastUsedAt} /> : 'never',
              key.expiresAt ? day(key.expiresAt) : 'never',
              `${limit(key.limits.maxRunning)}, ${limit(key.limits.maxQueued)}`,
              <MenuButton
                key="menu"
                icon
                variant="quiet"
                label={`Actions of ${key.name}`}
                trigger={<Ellipsis />}
                items={[
                  { label: 'Rotate', icon: <RotateCw />, onSelect: () => setAct({ what: 'rotate', key }) },
                  {
                    label: 'Revoke',
                    icon: <Trash2 />,
                    danger: true,
                    line: true,
                    onSelect: () => setAct({ what: 'revoke', key }),
                  },
                ]}
              />,
            ],
          }))}
        />
      )}
      {act?.what === 'new' && <NewKey own={own} onDone={show} onClose={close} />}
      {act?.what === 'rotate' && <RotateKeyDialog apiKey={act.key} onDone={show} onClose={close} />}
      {act?.what === 'revoke' && (
        <RevokeKeyDialog apiKey={act.key} isOwn={act.key.id === own.id} onDone={() => show(null)} onClose={close} />
      )}
      {act?.what === 'show' && (
        <ShowOnce title="The new API key" secret={act.secret} variable="DARKROOM_API_KEY" onDone={close} />
      )}
    </Page>
  );
}

const limit = (value: number): string => (value === 0 ? 'no limit' : count(value));
