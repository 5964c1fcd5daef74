import { Link } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { useQuery } from '../../live/use-query.ts';
import { type Look, look, onLook, setLook } from '../../look/theme.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import styles from '../../parts/stat.module.css';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { report } from '../../parts/toasts.ts';
import { browserName } from './browser-name.ts';
import { EndSession, Sessions } from './settings.documents.ts';

type Choice<Name extends keyof Look> = {
  name: Name;
  label: string;
  options: readonly { value: Look[Name]; label: string }[];
};

const THEME: Choice<'theme'> = {
  name: 'theme',
  label: 'Theme',
  options: [
    { value: 'system', label: 'System' },
    { value: 'safelight', label: 'Safelight' },
    { value: 'paper', label: 'Paper' },
  ],
};
const DENSITY: Choice<'density'> = {
  name: 'density',
  label: 'Density',
  options: [
    { value: 'auto', label: 'By screen' },
    { value: 'compact', label: 'Compact' },
    { value: 'comfortable', label: 'Comfortable' },
  ],
};
const CLOCK: Choice<'clock'> = {
  name: 'clock',
  label: 'Times',
  options: [
    { value: 'local', label: 'Local' },
    { value: 'utc', label: 'UTC' },
  ],
};
const KEYS: Choice<'singleKeys'> = {
  name: 'singleKeys',
  label: 'Single-key shortcuts',
  options: [
    { value: 'on', label: 'On' },
    { value: 'off', label: 'Off' },
  ],
};
const MOTION: Choice<'motion'> = {
  name: 'motion',
  label: 'Motion',
  options: [
    { value: 'system', label: 'As the system' },
    { value: 'reduced', label: 'Reduced' },
  ],
};

/** How this browser shows the dashboard, and which browsers are signed in with the key. */
export function SettingsPage() {
  const now = useSyncExternalStore(onLook, look);
  const { data, error, reload } = useQuery(Sessions, {});
  const end = (id: string) =>
    void mutate(EndSession, { id }).then(
      () => void reload(),
      (fault: unknown) => report(asCallError(fault).message, true),
    );
  const draw = <Name extends keyof Look>({ name, label, options }: Choice<Name>) => (
    <div key={name} className={styles.stack}>
      <h3>{label}</h3>
      <Segments<Look[Name]>
        label={label}
        value={now[name]}
        options={options}
        onChange={(value) => setLook({ [name]: value } as Partial<Look>)}
      />
    </div>
  );
  return (
    <Page title="Settings" actions={<Link to="/settings/about">About this instance</Link>}>
      <section className={styles.card} aria-label="Appearance">
        <h2>Appearance</h2>
        {draw(THEME)}
        {draw(DENSITY)}
        {draw(CLOCK)}
        {draw(KEYS)}
        {draw(MOTION)}
      </section>
      <section className={styles.section} aria-label="Signed-in browsers">
        <h2>Browsers signed in with this key</h2>
        {error && !data && <ErrorPanel error={error} onRetry={() => void reload()} />}
        {data && (
          <Table
            label="Sessions of this key"
            columns={[
              { label: 'Browser' },
              { label: 'Signed in' },
              { label: 'Seen' },
              { label: 'Actions', hidden: true },
            ]}
            rows={data.sessions.map(({ id, userAgent, createdAt, lastSeenAt, current }) => ({
              key: id,
              cells: [
                <span key="browser" title={userAgent}>
                  {browserName(userAgent)}
                </span>,
                <TimeAgo key="created" at={createdAt} />,
                <TimeAgo key="seen" at={lastSeenAt} />,
                current ? (
                  'this browser'
                ) : (
                  <Button key="end" onClick={() => end(id)}>
                    End
                  </Button>
                ),
              ],
            }))}
          />
        )}
      </section>
    </Page>
  );
}
