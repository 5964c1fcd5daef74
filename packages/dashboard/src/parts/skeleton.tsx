import styles from './panel.module.css';

/** A grey box of the final size. It is visible only if loading takes longer than 150 ms. */
export function Skeleton({ height, width }: { height: number | string; width?: number | string }) {
  return <span className={styles.skeleton} style={{ height, width }} aria-hidden />;
}
