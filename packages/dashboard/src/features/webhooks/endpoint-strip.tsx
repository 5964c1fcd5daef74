import { clockTime } from '../../format/time.ts';
import { nowS } from '../../format/clock.ts';
import styles from './endpoint-strip.module.css';
import type { Endpoint } from './webhooks.documents.ts';

const HOUR_S = 3_600;
const HOURS = 24;

/** The attempts of the last 24 hours, hour by hour: accepted ones below, refused ones above. */
export function EndpointStrip({ endpoint: { stats } }: { endpoint: Endpoint }) {
  const last = Math.floor(nowS() / HOUR_S) * HOUR_S;
  const known = new Map(stats.hourly.map((each) => [each.hour, each]));
  const hours = Array.from({ length: HOURS }, (_, nth) => {
    const hour = last - (HOURS - 1 - nth) * HOUR_S;
    return known.get(hour) ?? { hour, accepted: 0, refused: 0 };
  });
  const most = Math.max(1, ...hours.map(({ accepted, refused }) => accepted + refused));
  const all = (pick: 'accepted' | 'refused') => hours.reduce((total, each) => total + each[pick], 0);
  return (
    <div
      className={styles.strip}
      role="img"
      aria-label={`Attempts in 24 h: ${all('accepted')} accepted, ${all('refused')} refused`}
    >
      {hours.map(({ hour, accepted, refused }) => (
        <span
          key={hour}
          className={styles.hour}
          title={`${clockTime(hour).slice(0, 5)}: ${accepted} accepted, ${refused} refused`}
        >
          <span className={styles.accepted} style={{ height: `${(accepted / most) * 100}%` }} />
          <span className={styles.refused} style={{ height: `${(refused / most) * 100}%` }} />
        </span>
      ))}
    </div>
  );
}
