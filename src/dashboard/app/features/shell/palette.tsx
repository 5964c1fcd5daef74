import { ArrowRight } from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { targetOf } from './jump.ts';
import styles from './palette.module.css';
import { PLACES } from './places.ts';

interface Props {
  onClose(): void;
  onGo(path: string): void;
}

/** Jumps to a screen by name, or to anything by its id. */
export function Palette({ onClose, onGo }: Props) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const target = targetOf(text.trim());
  const screens = PLACES.filter(({ label }) => label.toLowerCase().includes(text.trim().toLowerCase()));
  const options = target ? [{ to: target, label: `Open ${text.trim()}` }] : screens;
  const at = Math.min(chosen, options.length - 1);

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setChosen((at + step + options.length) % Math.max(1, options.length));
    }
    const option = options[at];
    if (event.key === 'Enter' && option) onGo(option.to);
  }

  return (
    <Dialog open title="Search or jump" onClose={onClose}>
      <TextInput
        role="combobox"
        aria-label="Screen or id"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={options[at] ? `${listId}-${at}` : undefined}
        placeholder="A screen, or any id: task_… file_… we_… key_…"
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={styles.list} role="listbox" id={listId} aria-label="Places">
        {options.map((option, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field above has the focus and the keys
          <div
            key={option.to}
            id={`${listId}-${index}`}
            className={styles.option}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => onGo(option.to)}
          >
            {'Icon' in option ? <option.Icon aria-hidden /> : <ArrowRight aria-hidden />}
            {option.label}
          </div>
        ))}
        {options.length === 0 && <p>Nothing has this name or id.</p>}
      </div>
    </Dialog>
  );
}
