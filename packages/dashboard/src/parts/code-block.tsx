import styles from './code-block.module.css';

/** Code in a box that scrolls. The box is focusable, so that the keyboard can scroll it. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled region needs the keyboard
    <pre className={styles.code} tabIndex={0} role="region" aria-label={label}>
      <code>{code}</code>
    </pre>
  );
}
