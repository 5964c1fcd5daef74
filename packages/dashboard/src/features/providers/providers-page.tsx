import { percent } from '../../format/numbers.ts';
import { duration } from '../../format/time.ts';
import { useQuery } from '../../live/use-query.ts';
import { useSubscription } from '../../live/use-subscription.ts';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from '../../parts/stat.module.css';
import { StaleNote } from '../../parts/stale-note.tsx';
import { Table } from '../../parts/table.tsx';
import { ModelHealth, ProvidersUpdated } from './providers.documents.ts';

const HEALTH = { OPERATIONAL: styles.good, DEGRADED: styles.warn, UNAVAILABLE: styles.bad };

/** Who makes what, and whether calls get through. */
export function ProvidersPage() {
  const { data, staleSince } = useSubscription(ProvidersUpdated);
  const { data: models } = useQuery(ModelHealth, {});
  const providers = data?.operationsUpdated.providers;
  return (
    <Page title="Providers" sub="read only: set by the PROVIDERS file and the environment">
      <StaleNote since={staleSince} />
      {!providers && <Skeleton height={240} />}
      {providers && (
        <Table
          label="Providers"
          columns={[
            { label: 'Provider' },
            { label: 'Models' },
            { label: 'Credential' },
            { label: 'In flight', number: true },
            { label: 'Circuit' },
          ]}
          rows={providers.map(
            ({ place, provider, host, credential, concurrency, inFlight, circuitOpenIn, pauses, models: served }) => ({
              key: String(place),
              cells: [
                <>
                  <strong>{provider}</strong>
                  <div className={styles.muted}>{host ?? 'renders here, free'}</div>
                </>,
                served.map(({ model, upstreamModel }) => (
                  <div key={model}>
                    {model} <span className={styles.muted}>{upstreamModel === model ? '' : upstreamModel}</span>
                  </div>
                )),
                credential ? <code key="credential">{credential}</code> : '–',
                `${inFlight}${concurrency === null ? '' : ` of ${concurrency}`}`,
                circuitOpenIn.length > 0 ? (
                  <span key="circuit" className={styles.bad}>
                    open in {circuitOpenIn.length}
                  </span>
                ) : (
                  <span key="circuit" className={styles.good}>
                    closed{pauses.length > 0 && ', paused'}
                  </span>
                ),
              ],
            }),
          )}
        />
      )}
      {models && (
        <section className={styles.section}>
          <h2>Models</h2>
          <Table
            label="Health of the models"
            columns={[
              { label: 'Model' },
              { label: 'Kind' },
              { label: 'Health' },
              { label: 'Succeeded, 1 h', number: true },
              { label: 'Median run', number: true },
            ]}
            rows={models.models.map(({ id, kind, health }) => ({
              key: id,
              cells: [
                id,
                kind.toLowerCase(),
                <span key="health" className={HEALTH[health.status]}>
                  {health.status.toLowerCase()}
                </span>,
                health.successRate === null ? '–' : percent(health.successRate),
                health.medianRunS === null ? '–' : duration(health.medianRunS),
              ],
            }))}
          />
        </section>
      )}
    </Page>
  );
}
