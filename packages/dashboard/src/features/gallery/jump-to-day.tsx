import { CalendarDays } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '../../parts/button.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import styles from './gallery.module.css';

/** The earliest day to jump to. It excludes a year that is half typed, such as 0020. */
const FIRST_DAY = '2000-01-01';

interface Props {
  /** @param focus whether the picture gets the focus, because the user has finished the date */
  onJump(day: string, focus: boolean): void;
}

/**
 * Jumps to the newest picture of a day or, if the day has none, to the newest one before that day. The date field lies
 * under the button's words.
 */
export function JumpToDay({ onJump }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const open = () => {
    field.current?.focus();
    // In a browser without a calendar the user types the date.
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
