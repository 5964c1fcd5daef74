import styles from './create.module.css';

const WORDS = [
  ['#delay:5', 'waits 5 s'],
  ['#fail:provider_timeout', 'fails with that code'],
  ['#hang', 'waits until it is cancelled'],
] as const;

/** Words in the prompt that tell the sandbox what to do. The words that the prompt contains are marked. */
export function Directives({ prompt }: { prompt: string }) {
  const words = new Set(prompt.split(/\s+/));
  return (
    <span className={styles.directives}>
      In the sandbox{' '}
      {WORDS.map(([word, does], index) => (
        <span key={word}>
          {index > 0 && ', '}
          <code data-used={words.has(word)}>{word}</code> {does}
        </span>
      ))}
      .
    </span>
  );
}
