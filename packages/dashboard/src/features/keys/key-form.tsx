import { useState } from 'react';
import type { Session } from '../../api/session.ts';
import { day } from '../../format/time.ts';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Select } from '../../parts/select.tsx';
import stat from '../../parts/stat.module.css';
import { TextInput } from '../../parts/text-input.tsx';
import { useAction } from '../../parts/use-action.ts';
import type { Key } from './keys.documents.ts';
import styles from './keys.module.css';
import { LimitFields } from './limit-fields.tsx';
import { changesOf, textsOf } from './limits.ts';
import { scopeName, SCOPES } from './scopes.ts';

const DAY = 86_400;
const LIVES: Record<string, number> = { '30 days': 30 * DAY, '90 days': 90 * DAY, '1 year': 365 * DAY };
const USUAL: readonly Key['scopes'][number][] = ['GENERATIONS_WRITE', 'TASKS_READ', 'TASKS_CANCEL'];

/** The values of the form. For an existing key, `models`, `expiresAt` and `limits` are missing if unchanged. */
export interface KeyInput {
  name: string;
  scopes: Key['scopes'];
  /** null: every model without `access: listed`; undefined: unchanged. */
  models?: string[] | null;
  /** null: never; undefined: unchanged. */
  expiresAt?: number | null;
  limits?: ReturnType<typeof changesOf>;
}

interface Props {
  own: Session['api_key'];
  /** null for a new key. */
  apiKey: Key | null;
  onSave(input: KeyInput): Promise<void>;
  onClose(): void;
}

/** The form of an API key. A key cannot grant scopes that it lacks itself, so those are locked. */
export function KeyForm({ own, apiKey, onSave, onClose }: Props) {
  const may = (scope: Key['scopes'][number]) => own.scopes.includes(scopeName(scope));
  const [name, setName] = useState(apiKey?.name ?? '');
  const [scopes, setScopes] = useState<ReadonlySet<Key['scopes'][number]>>(
    new Set(apiKey ? apiKey.scopes : USUAL.filter(may)),
  );
  const [models, setModels] = useState(apiKey?.models?.join(', ') ?? '');
  const [life, setLife] = useState(apiKey ? 'same' : 'never');
  const [before] = useState(() => textsOf(apiKey?.limits ?? null));
  const [texts, setTexts] = useState(before);
  const { busy, fault, act } = useAction();
  const limits = changesOf(texts, before);
  const save = () =>
    act(() =>
      onSave({
        name: name.trim(),
        scopes: [...scopes],
        ...modelsOf(models, apiKey),
        ...expiryOf(life),
        ...(limits && { limits }),
      }),
    );
  const toggle = (scope: Key['scopes'][number]) => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  return (
    <Dialog
      open
      wide
      title={apiKey ? `Edit ${apiKey.name}` : 'New API key'}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            busy={busy && (apiKey ? 'Saving…' : 'Creating…')}
            disabled={name.trim() === '' || scopes.size === 0}
            onClick={() => void save()}
          >
            {apiKey ? 'Save changes' : 'Create key'}
          </Button>
        </>
      }
    >
      <Field label="Name" hint="Where it is used, such as shop-backend" error={fault}>
        {(ids) => (
          <TextInput
            {...ids}
            value={name}
            maxLength={100}
            autoFocus
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <fieldset className={stat.stack}>
        <legend>Scopes</legend>
        {SCOPES.map(({ scope, means }) => (
          <Checkbox
            key={scope}
            checked={scopes.has(scope)}
            disabled={!may(scope) && !scopes.has(scope)}
            onChange={() => toggle(scope)}
          >
            <code>{scopeName(scope)}</code>{' '}
            <span className={stat.muted}>{may(scope) ? means : 'your key lacks it, so it cannot give it'}</span>
          </Checkbox>
        ))}
      </fieldset>
      <Field label="Models" hint="Ids, such as flux-local, kling-*. Empty: every open one">
        {(ids) => (
          <TextInput
            {...ids}
            value={models}
            placeholder="every open one"
            onChange={(event) => setModels(event.target.value)}
          />
        )}
      </Field>
      <Field label="Expires">
        {(ids) => (
          <Select {...ids} value={life} onChange={(event) => setLife(event.target.value)}>
            {apiKey && (
              <option value="same">{apiKey.expiresAt ? `as now: on ${day(apiKey.expiresAt)}` : 'as now: never'}</option>
            )}
            {!(apiKey && apiKey.expiresAt === null) && <option value="never">never</option>}
            {Object.keys(LIVES).map((each) => (
              <option key={each} value={each}>
                in {each}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <details className={styles.more} open={apiKey !== null}>
        <summary>Limits and budget</summary>
        <div>
          <LimitFields texts={texts} onChange={setTexts} />
        </div>
      </details>
    </Dialog>
  );
}

/** @param text model ids, separated by commas or spaces */
function modelsOf(text: string, apiKey: Key | null): Pick<KeyInput, 'models'> {
  const ids = text.split(/[\s,]+/).filter((id) => id !== '');
  const isSame = ids.join() === (apiKey?.models ?? []).join();
  return isSame ? {} : { models: ids.length > 0 ? ids : null };
}

function expiryOf(life: string): Pick<KeyInput, 'expiresAt'> {
  if (life === 'same') return {};
  const seconds = LIVES[life];
  return { expiresAt: seconds === undefined ? null : Math.floor(Date.now() / 1_000) + seconds };
}
