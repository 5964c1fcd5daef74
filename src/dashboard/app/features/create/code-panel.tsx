import { useState } from 'react';
import { Checkbox } from '../../parts/checkbox.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import styles from './create.module.css';
import { type ModelSchema, requestOf, type Values } from './schema-rules.ts';
import { type Language, LANGUAGES, snippet, type Wait } from './snippets.ts';

interface Props {
  model: string;
  schema: ModelSchema;
  values: Values;
}

/** The request of the form as code, kept up to date while one types. */
export function CodePanel({ model, schema, values }: Props) {
  const [language, setLanguage] = useState<Language>('curl');
  const [wait, setWait] = useState<Wait>('poll');
  const [defaults, setDefaults] = useState(false);
  const request = requestOf(
    model,
    schema,
    values.prompt ? values : { ...values, prompt: 'A lighthouse at dusk' },
    defaults,
  );
  const code = snippet(language, request, { baseUrl: location.origin, wait });
  const canWait = language !== 'graphql' && language !== 'json';
  return (
    <section className={styles.code} aria-label="Code">
      <div className={styles.codeHead}>
        <h2>Code</h2>
        <CopyButton text={code} />
      </div>
      <Segments<Language> label="Language" value={language} options={LANGUAGES} onChange={setLanguage} />
      <CodeBlock code={code} label={`The request in ${language}`} />
      <div className={styles.codeOptions}>
        <Checkbox checked={defaults} onChange={(event) => setDefaults(event.target.checked)}>
          with defaults
        </Checkbox>
        {canWait && (
          <Select
            aria-label="How the code waits"
            value={wait}
            onChange={(event) => setWait(event.target.value as Wait)}
          >
            <option value="poll">{language === 'curl' ? 'answer at once' : 'read until it ends'}</option>
            <option value="wait">Prefer: wait</option>
          </Select>
        )}
      </div>
    </section>
  );
}
