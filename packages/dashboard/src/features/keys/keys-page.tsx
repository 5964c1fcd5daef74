import { Link } from '@tanstack/react-router';
import { Ellipsis, KeyRound, Pencil, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import type { Session } from '../../api/session.ts';
import { count } from '../../format/numbers.ts';
import { day } from '../../format/time.ts';
import { usePages } from '../../live/use-pages.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { MenuButton } from '../../parts/menu-button.tsx';
import { Page } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { ShowOnce } from '../../parts/show-once.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from '../../parts/stat.module.css';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { KeyForm, type KeyInput } from './key-form.tsx';
import { CreateKey, Keys } from './keys.documents.ts';
import { scopeName } from './scopes.ts';
import { useKeyActs } from './use-key-acts.tsx';

const COLUMNS = [
  { label: 'Key' },
  { label: 'Scopes' },
  { label: 'Used' },
  { label: 'Expires' },
  { label: 'Running · queued at most', number: true },
  { label: 'Actions', hidden: true },
];

interface Props {
  own: Session['api_key'];
  isNew: boolean;
  onNew(isOpen: boolean): void;
}

/** The API keys of this instance. */
export function KeysPage({ own, isNew, onNew }: Props) {
  const { data, error, reload, pager } = usePages(Keys, {}, ({ apiKeys }) => apiKeys.pageInfo);
  const acts = useKeyActs(own, () => void reload());
  // The address changes only after the user has saved the secret, because another screen cannot show it.
  const [secret, setSecret] = useState<string | null>(null);
  const keys = data?.apiKeys.edges.map(({ node }) => node) ?? [];
  async function create({ expiresAt, ...input }: KeyInput): Promise<void> {
    const { key } = (await mutate(CreateKey, { input: { ...input, ...(expiresAt && { expiresAt }) } })).createApiKey;
    setSecret(key);
  }
  return (
    <Page
      title="API keys"
      actions={
        <Button variant="primary" onClick={() => onNew(true)}>
          <KeyRound aria-hidden /> New key
        </Button>
      }
    >
      {error && <ErrorPanel error={error} onRetry={() => void reload()} />}
      {!data && !error && <Skeleton height={240} />}
      {data && (
        <Table
          label="API keys"
          columns={COLUMNS}
          rows={keys.map((key) => ({
            key: key.id,
            cells: [
              <div key="name">
                <Link to="/keys/$keyId" params={{ keyId: key.id }}>
                  <bdi>{key.name}</bdi>
                </Link>{' '}
                <span className="mono">{key.hint}</span>
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
              `${limit(key.limits.maxRunning)} · ${limit(key.limits.maxQueued)}`,
              <MenuButton
                key="menu"
                icon
                variant="quiet"
                label={`Actions of ${key.name}`}
                trigger={<Ellipsis />}
                items={[
                  { label: 'Edit', icon: <Pencil />, onSelect: () => acts.start('edit', key) },
                  { label: 'Rotate', icon: <RotateCw />, onSelect: () => acts.start('rotate', key) },
                  {
                    label: 'Revoke',
                    icon: <Trash2 />,
                    danger: true,
                    line: true,
                    onSelect: () => acts.start('revoke', key),
                  },
                ]}
              />,
            ],
          }))}
        />
      )}
      <Pager of="API keys" {...pager} />
      {isNew && !secret && <KeyForm own={own} apiKey={null} onSave={create} onClose={() => onNew(false)} />}
      {secret && (
        <ShowOnce title="The new API key" secret={secret} variable="DARKROOM_API_KEY" onDone={() => onNew(false)} />
      )}
      {acts.dialog}
    </Page>
  );
}

const limit = (value: number): string => (value === 0 ? 'no limit' : count(value));
