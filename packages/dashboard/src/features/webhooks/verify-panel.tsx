import { useState } from 'react';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { VERIFY_SNIPPETS, type VerifyLanguage } from './verify-snippets.ts';
import styles from './webhooks.module.css';

const LANGUAGES = (Object.keys(VERIFY_SNIPPETS) as VerifyLanguage[]).map((value) => ({ value, label: value }));

/** Shows how a receiver checks that an event comes from this instance. */
export function VerifyPanel() {
  const [language, setLanguage] = useState<VerifyLanguage>('TypeScript');
  const code = VERIFY_SNIPPETS[language];
  return (
    <details className={styles.verify}>
      <summary>Verify the signature in your receiver</summary>
      <div className={styles.tries}>
        <div className={styles.links}>
          <Segments<VerifyLanguage> label="Language" value={language} options={LANGUAGES} onChange={setLanguage} />
          <CopyButton text={code} />
        </div>
        <CodeBlock code={code} label={`Receiver in ${language}`} />
      </div>
    </details>
  );
}
