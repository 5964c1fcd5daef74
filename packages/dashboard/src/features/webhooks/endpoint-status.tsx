import { CircleCheck, CircleX } from 'lucide-react';
import styles from '../../parts/stat.module.css';
import type { Endpoint } from './webhooks.documents.ts';

const REASONS = { FAILING: 'disabled: it kept failing', GONE: 'disabled: it answered 410' };

export function EndpointStatus({ endpoint: { status, disabledReason } }: { endpoint: Endpoint }) {
  return status === 'ENABLED' ? (
    <span className={`${styles.row} ${styles.good}`}>
      <CircleCheck size={15} aria-hidden /> enabled
    </span>
  ) : (
    <span className={`${styles.row} ${styles.bad}`}>
      <CircleX size={15} aria-hidden /> {disabledReason ? REASONS[disabledReason] : 'disabled'}
    </span>
  );
}
