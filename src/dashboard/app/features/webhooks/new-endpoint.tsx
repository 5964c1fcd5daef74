import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import styles from '../../parts/stat.module.css';
import { TextInput } from '../../parts/text-input.tsx';
import { useAction } from '../../parts/use-action.ts';
import { eventName } from './event-name.ts';
import { CreateEndpoint, type Endpoint } from './webhooks.documents.ts';

const EVENTS: readonly Endpoint['events'][number][] = [
  'TASK_COMPLETED',
  'TASK_FAILED',
  'BATCH_COMPLETED',
  'BUDGET_THRESHOLD_REACHED',
  'BUDGET_EXCEEDED',
];

export function NewEndpoint({ onDone, onClose }: { onDone(secret: string | null): void; onClose(): void }) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState<ReadonlySet<Endpoint['events'][number]>>(new Set(EVENTS.slice(0, 2)));
  const { busy, fault, act } = useAction();
  const create = () =>
    act(async () => {
      const { createWebhookEndpoint } = await mutate(CreateEndpoint, {
        input: { url: url.trim(), description, events: [...events] },
      });
      onDone(createWebhookEndpoint.secret);
    });
  const toggle = (event: Endpoint['events'][number]) => {
    const next = new Set(events);
    if (!next.delete(event)) next.add(event);
    setEvents(next);
  };
  return (
    <Dialog
      open
      title="New endpoint"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            busy={busy && 'Creating…'}
            disabled={url.trim() === '' || events.size === 0}
            onClick={() => void create()}
          >
            Create endpoint
          </Button>
        </>
      }
    >
      <Field label="URL" hint="https, a public address" error={fault}>
        {(ids) => (
          <TextInput
            {...ids}
            type="url"
            placeholder="https://shop.example/hooks"
            value={url}
            autoFocus
            onChange={(event) => setUrl(event.target.value)}
          />
        )}
      </Field>
      <fieldset className={styles.stack}>
        <legend>Events</legend>
        {EVENTS.map((event) => (
          <Checkbox key={event} checked={events.has(event)} onChange={() => toggle(event)}>
            <code>{eventName(event)}</code>
          </Checkbox>
        ))}
      </fieldset>
      <Field label="Description">
        {(ids) => (
          <TextInput
            {...ids}
            value={description}
            maxLength={200}
            onChange={(event) => setDescription(event.target.value)}
          />
        )}
      </Field>
    </Dialog>
  );
}
