import { lazy, Suspense, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { percent } from '../../format/numbers.ts';
import { duration } from '../../format/time.ts';
import { usePages } from '../../live/use-pages.ts';
import { useQuery } from '../../live/use-query.ts';
import { useSubscription } from '../../live/use-subscription.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from '../../parts/stat.module.css';
import { StaleNote } from '../../parts/stale-note.tsx';
import { Table } from '../../parts/table.tsx';
import { LatestActs as Acts } from './latest-acts.tsx';
import { PauseCell } from './pause-cell.tsx';
import type { Asked } from './act-dialog.tsx';
import { LatestActs, ModelHealth, type Pause, type Place, ProvidersUpdated } from './providers.documents.ts';

const ActDialog = lazy(part(() => import('./act-dialog.tsx').then(({ ActDialog: it }) => ({ default: it }))));

const HEALTH = { OPERATIONAL: styles.good, DEGRADED: styles.warn, UNAVAILABLE: styles.bad };

/** The providers and models, whether calls get through, and the operator's actions. */
export function ProvidersPage({ mayAct }: { mayAct: boolean }) {
  const { data, staleSince } = useSubscription(ProvidersUpdated);
  const { data: models } = useQuery(ModelHealth, {});
  const [withMakers, setWithMakers] = useState(false);
  const {
    data: latest,
    error: actsFault,
    reload,
    pager,
  } = usePages(
    LatestActs,
    { keepsAndShares: withMakers ? null : false },
    ({ operations }) => operations.auditEvents.pageInfo,
  );
  const [asked, setAsked] = useState<Asked | null>(null);
  const providers = data?.operationsUpdated.providers;
  const pauses = data?.operationsUpdated.pauses.edges.map(({ node }) => node) ?? [];

  const cellOf = (name: string, own: readonly Pause[], target: { model: string } | { place: number }) => (
    <PauseCell
      key="pause"
      name={name}
      pauses={own}
      acts={
        mayAct
          ? {
              pause: () => setAsked({ act: 'pause', name, target }),
              resume: (pause) => setAsked({ act: 'resume', name, pause }),
            }
          : null
      }
    />
  );
  return (
    <Page title="Providers" sub="set by the PROVIDERS file and the environment">
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
            { label: 'Pause' },
          ]}
          rows={providers.map((place) => ({
            key: String(place.place),
            cells: [
              <>
                <strong>{place.provider}</strong>
                <div className={styles.muted}>{isSandbox(place) ? 'renders here, free' : place.host}</div>
              </>,
              place.models.map(({ model, upstreamModel }) => (
                <div key={model}>
                  {model} <span className={styles.muted}>{upstreamModel === model ? '' : upstreamModel}</span>
                </div>
              )),
              place.credential ? <code key="credential">{place.credential}</code> : '–',
              // Only calls to another service are counted, and the sandbox makes none.
              isSandbox(place)
                ? '–'
                : `${place.inFlight}${place.concurrency === null ? '' : ` of ${place.concurrency}`}`,
              <Circuit key="circuit" place={place} onClose={mayAct && (() => setAsked({ act: 'close', place }))} />,
              cellOf(
                place.provider,
                pauses.filter(({ id, kind }) => kind !== 'MODEL' && place.pauses.includes(id)),
                { place: place.place },
              ),
            ],
          }))}
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
              { label: 'Pause' },
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
                cellOf(
                  id,
                  pauses.filter(({ model }) => model === id),
                  { model: id },
                ),
              ],
            }))}
          />
        </section>
      )}
      {actsFault && <ErrorPanel error={actsFault} onRetry={() => void reload()} />}
      {latest && (
        <Acts
          acts={latest.operations.auditEvents.edges.map(({ node }) => node)}
          pager={pager}
          withMakers={withMakers}
          onWithMakers={setWithMakers}
        />
      )}
      {asked && (
        <Suspense>
          <ActDialog asked={asked} onClose={() => setAsked(null)} onDone={() => void reload()} />
        </Suspense>
      )}
    </Page>
  );
}

const isSandbox = ({ provider }: Place): boolean => provider === 'sandbox';

interface CircuitProps {
  place: Place;
  /** False: this key may only read. */
  onClose: (() => void) | false;
}

/**
 * The circuit breaker of a provider. An open circuit closes by itself after a while, or at once by the button below.
 */
function Circuit({ place: { provider, circuitOpenIn }, onClose }: CircuitProps) {
  if (circuitOpenIn.length === 0) return <span className={styles.good}>closed</span>;
  return (
    <div className={styles.row}>
      <span className={styles.bad}>open in {circuitOpenIn.length}</span>
      {onClose && (
        <Button onClick={onClose} aria-label={`Close the circuit of ${provider}`}>
          Close…
        </Button>
      )}
    </div>
  );
}
