import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { bytes } from '../../format/numbers.ts';
import { duration } from '../../format/time.ts';
import { useQuery } from '../../live/use-query.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import stat from '../../parts/stat.module.css';
import styles from './about.module.css';
import { About } from './settings.documents.ts';

const DAY = 86_400;

/** The version, the limits and the retention times of this instance, and its documentation. */
export function AboutPage() {
  const { data, error, reload } = useQuery(About, {});
  const about = data?.about;
  return (
    <Page title="About" actions={<Link to="/settings">Settings</Link>}>
      {error && !about && <ErrorPanel error={error} onRetry={() => void reload()} />}
      {!about && !error && <Skeleton height={320} />}
      {about && (
        <>
          <section className={stat.card} aria-label="This instance">
            <h2>Darkroom {about.version}</h2>
            <Facts
              facts={[
                ['Base of all links', <bdi key="url">{about.publicUrl}</bdi>],
                ['Tasks are kept', duration(about.taskRetentionDays * DAY)],
                ['Their files are kept', duration(about.fileRetentionDays * DAY)],
                ['A signed link works', duration(about.fileUrlTtlS)],
                ['Largest uploaded image', bytes(about.maxUploadBytes)],
                ['A webhook is sent again after', about.webhookScheduleS.map(duration).join(', ')],
              ]}
            />
          </section>
          <section className={stat.card} aria-label="Documentation">
            <h2>For your code</h2>
            <ul className={styles.links}>
              <li>
                <a href="/docs">API reference</a>
              </li>
              {about.graphiql && (
                <li>
                  <a href="/graphiql">GraphiQL</a>
                </li>
              )}
              <li>
                <a href="/openapi.json">OpenAPI</a>
              </li>
              <li>
                <a href="/llms.txt">Documentation for language models</a>
              </li>
              <li>
                <a href="/client.tgz">The TypeScript client</a>
              </li>
              <li>
                <a href={`/python/darkroom_client-${about.version}-py3-none-any.whl`}>The Python client</a>
              </li>
            </ul>
          </section>
          <section className={stat.card} aria-label="Licences">
            <h2>Licences</h2>
            <p>
              Darkroom is under the Apache License 2.0. The fonts Inter and JetBrains Mono are under the SIL Open Font
              License 1.1, the icons of Lucide under the ISC License. React, TanStack Router and Virtual, Base UI, urql
              and graphql-ws are under the MIT License.
            </p>
          </section>
        </>
      )}
    </Page>
  );
}

function Facts({ facts }: { facts: readonly [string, ReactNode][] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
