import { CircleCheck, CircleDashed, CirclePause, CircleX } from 'lucide-react';
import { clockTime, day } from '../../format/time.ts';
import { nowS } from '../../format/clock.ts';
import { plural } from '../../format/numbers.ts';
import tones from '../../parts/stat.module.css';
import styles from '../../parts/status.module.css';
import { healthOf } from './endpoint-health.ts';
import type { Endpoint } from './webhooks.documents.ts';

const LOOKS = {
  healthy: { Icon: CircleCheck, tone: tones.good },
  failing: { Icon: CircleX, tone: tones.bad },
  disabled: { Icon: CirclePause, tone: tones.bad },
  untried: { Icon: CircleDashed, tone: tones.muted },
};

interface Props {
  endpoint: Endpoint;
  /** Whether to say how many events wait for a failing endpoint. */
  withWaiting?: boolean;
}

/** The health of the endpoint, derived from its answers. That it is enabled says nothing about its health. */
export function EndpointStatus({ endpoint, withWaiting = false }: Props) {
  const health = healthOf(endpoint);
  const { waiting } = endpoint.stats;
  const { Icon, tone } = LOOKS[health];
  return (
    <span className={`${styles.chip} ${tone}`} data-health={health}>
      <Icon aria-hidden /> {wordsOf(endpoint)}
      {withWaiting && health === 'failing' && waiting > 0 && `, ${plural(waiting, 'event waits', 'events wait')}`}
    </span>
  );
}

const REASONS = { FAILING: 'Disabled: it kept failing', GONE: 'Disabled: it answered 410' };

function wordsOf(endpoint: Endpoint): string {
  const { disabledReason, failingSince } = endpoint;
  switch (healthOf(endpoint)) {
    case 'disabled':
      return disabledReason ? REASONS[disabledReason] : 'Disabled';
    case 'failing':
      return `Failing since ${since(failingSince ?? 0)}`;
    case 'untried':
      return 'Not tried yet';
    default:
      return 'Healthy';
  }
}

/** The clock time, such as `14:03`, if the moment is today; otherwise the day. */
const since = (at: number): string => (day(at) === day(nowS()) ? clockTime(at).slice(0, 5) : day(at));
