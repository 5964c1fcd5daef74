import { CalendarDays } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '../../parts/button.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import styles from './gallery.module.css';

/** No picture is older than this; a year that is being typed begins with zeros. */
const FIRST_DAY = '2000-01-01';

interface Props {
  /** @param focus the picture there gets the focus: the reader is done with the date */
  onJump(day: string, focus: boolean): void;
}

/** Leads to the newest picture of a day, or to the first one before it. The field lies under the words of the button. */
export function JumpToDay({ onJump }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const open = () => {
    field.current?.focus();
    // A browser without a calendar of its own leaves the field to the keyboard.
    field.current?.showPicker?.();
  };
  return (
    <span className={styles.jump}>
      <Button onClick={open}>
        <CalendarDays aria-hidden /> Jump to day
      </Button>
      <TextInput
        ref={field}
        type="date"
        aria-label="Jump to date"
        tabIndex={-1}
        min={FIRST_DAY}
        onChange={({ currentTarget: { value, validity } }) => {
          if (value && validity.valid) onJump(value, false);
        }}
        onKeyDown={({ key, currentTarget: { value, validity } }) => {
          if (key === 'Enter' && value && validity.valid) onJump(value, true);
        }}
      />
    </span>
  );
}
