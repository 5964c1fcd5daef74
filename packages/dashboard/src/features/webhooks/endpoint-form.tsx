import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import styles from '../../parts/stat.module.css';
import { TextInput } from '../../parts/text-input.tsx';
import { useAction } from '../../parts/use-action.ts';
import { eventName, SUBSCRIBED } from './event-name.ts';
import type { Endpoint } from './webhooks.documents.ts';

export type EndpointInput = Pick<Endpoint, 'url' | 'description' | 'events'>;

interface Props {
  title: string;
  initial: EndpointInput;
  /** The texts of the button, such as `Create endpoint` and `Creating…`. */
  words: [act: string, busy: string];
  onSave(input: EndpointInput): Promise<void>;
  onClose(): void;
}

/** The form of an endpoint: its URL, its description, and the events that it receives. */
export function EndpointForm({ title, initial, words: [word, busyWord], onSave, onClose }: Props) {
  const [url, setUrl] = useState(initial.url);
  const [description, setDescription] = useState(initial.description);
  const [events, setEvents] = useState<ReadonlySet<string>>(new Set(initial.events));
  const { busy, fault, act } = useAction();
  const chosen = SUBSCRIBED.filter((event) => events.has(event)) as Endpoint['events'];
  const toggle = (event: string) => {
    const next = new Set(events);
    if (!next.delete(event)) next.add(event);
    setEvents(next);
  };
  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            busy={busy && busyWord}
            disabled={url.trim() === '' || chosen.length === 0}
            onClick={() => void act(() => onSave({ url: url.trim(), description, events: chosen }))}
          >
            {word}
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
        {SUBSCRIBED.map((event) => (
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
