import { TextInput } from '../../parts/text-input.tsx';

/** No picture is older than this; a year that is being typed begins with zeros. */
const FIRST_DAY = '2000-01-01';

interface Props {
  /** @param focus the picture there gets the focus: the reader is done with the date */
  onJump(day: string, focus: boolean): void;
}

/** Leads to the newest picture of a day, or to the first one before it. */
export function JumpToDay({ onJump }: Props) {
  return (
    <TextInput
      type="date"
      aria-label="Jump to date"
      title="Jump to date"
      min={FIRST_DAY}
      onChange={({ currentTarget: { value, validity } }) => {
        if (value && validity.valid) onJump(value, false);
      }}
      onKeyDown={({ key, currentTarget: { value, validity } }) => {
        if (key === 'Enter' && value && validity.valid) onJump(value, true);
      }}
    />
  );
}
