import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import type { Session } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Select } from '../../parts/select.tsx';
import styles from '../../parts/stat.module.css';
import { TextInput } from '../../parts/text-input.tsx';
import { useAction } from '../../parts/use-action.ts';
import { CreateKey, type Key } from './keys.documents.ts';
import { scopeName, SCOPES } from './scopes.ts';

const DAY = 86_400;
const LIVES = { never: 0, '30 days': 30 * DAY, '90 days': 90 * DAY, '1 year': 365 * DAY };
const USUAL: readonly Key['scopes'][number][] = ['GENERATIONS_WRITE', 'TASKS_READ', 'TASKS_CANCEL'];

interface Props {
  own: Session['api_key'];
  onDone(secret: string | null): void;
  onClose(): void;
}

/** Nobody grants more than they have: what the own key lacks is locked. */
export function NewKey({ own, onDone, onClose }: Props) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<Key['scopes'][number]>>(
    new Set(USUAL.filter((scope) => own.scopes.includes(scopeName(scope)))),
  );
  const [life, setLife] = useState<keyof typeof LIVES>('never');
  const { busy, fault, act } = useAction();

  const create = () =>
    act(async () => {
      const expiresAt = LIVES[life] === 0 ? {} : { expiresAt: Math.floor(Date.now() / 1_000) + LIVES[life] };
      const { createApiKey } = await mutate(CreateKey, {
        input: { name: name.trim(), scopes: [...scopes], ...expiresAt },
      });
      onDone(createApiKey.key);
    });
  const toggle = (scope: Key['scopes'][number]) => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  return (
    <Dialog
      open
      title="New API key"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            busy={busy && 'Creating…'}
            disabled={name.trim() === '' || scopes.size === 0}
            onClick={() => void create()}
          >
            Create key
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
      <fieldset className={styles.stack}>
        <legend>Scopes</legend>
        {SCOPES.map(({ scope, means }) => {
          const has = own.scopes.includes(scopeName(scope));
          return (
            <Checkbox key={scope} checked={scopes.has(scope)} disabled={!has} onChange={() => toggle(scope)}>
              <code>{scopeName(scope)}</code> <span className={styles.muted}>{has ? means : 'your key lacks it'}</span>
            </Checkbox>
          );
        })}
      </fieldset>
      <Field label="Expires after">
        {(ids) => (
          <Select {...ids} value={life} onChange={(event) => setLife(event.target.value as keyof typeof LIVES)}>
            {Object.keys(LIVES).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </Select>
        )}
      </Field>
    </Dialog>
  );
}
