import { type ReactNode, useState } from 'react';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import styles from './request-code.module.css';
import { Segments } from './segments.tsx';
import { Select } from './select.tsx';
import { type Language, LANGUAGES, snippet, type Wait, WAITS } from './snippets.ts';

interface Props {
  /** The request, as REST takes it. */
  request: Record<string, unknown>;
  /** A further choice, shown before the choice how to wait. */
  children?: ReactNode;
}

/** A request as code, in several languages. */
export function RequestCode({ request, children }: Props) {
  const [language, setLanguage] = useState<Language>('curl');
  const [wait, setWait] = useState<Wait>('wait');
  const waits = WAITS[language];
  // If the language lacks the chosen way to wait, its first way is shown. The choice returns with another language.
  const way = waits.find(({ value }) => value === wait)?.value ?? waits[0]?.value ?? 'poll';
  const code = snippet(language, request, { baseUrl: location.origin, wait: way });
  return (
    <>
      <div className={styles.bar}>
        <Segments<Language> label="Language" value={language} options={LANGUAGES} onChange={setLanguage} />
        <CopyButton text={code} />
      </div>
      <CodeBlock code={code} label={`The request in ${language}`} />
      <div className={styles.options}>
        {children}
        {waits.length > 0 && (
          <Select aria-label="How the code waits" value={way} onChange={(event) => setWait(event.target.value as Wait)}>
            {waits.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </div>
    </>
  );
}
