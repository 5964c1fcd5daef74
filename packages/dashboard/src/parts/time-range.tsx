import { useState } from 'react';
import { look } from '../look/theme.ts';
import { moment, unixOf } from '../format/time.ts';
import { Select } from './select.tsx';
import { TextInput } from './text-input.tsx';
import styles from './time-range.module.css';

const HOUR = 3_600;
const SPANS = { hour: HOUR, day: 24 * HOUR, week: 168 * HOUR };

export interface TimeRangeValue {
  /** Unix seconds as text, as in an address. */
  from?: string | undefined;
  to?: string | undefined;
}

interface Props extends TimeRangeValue {
  onChange(range: TimeRangeValue): void;
}

/** A choice of any time, of the last hour, day or week, or of two times. */
export function TimeRange({ from, to, onChange }: Props) {
  const [isOpen, setOpen] = useState(false);
  const span = spanOf(from, to);
  const isExact = isOpen || span === 'exact';
  const choose = (name: string) => {
    setOpen(name === 'exact');
    if (name === 'exact') return;
    const seconds = SPANS[name as keyof typeof SPANS];
    onChange({ from: seconds ? String(Math.floor(Date.now() / 1_000) - seconds) : undefined, to: undefined });
  };
  return (
    <div className={styles.range}>
      <Select aria-label="Time" value={isExact ? 'exact' : span} onChange={(event) => choose(event.target.value)}>
        <option value="">Any time</option>
        {Object.entries(WORDS).map(([name, word]) => (
          <option key={name} value={name}>
            {word}
          </option>
        ))}
        <option value="exact">Between…</option>
      </Select>
      {isExact && (
        <>
          <TextInput
            type="datetime-local"
            aria-label="From"
            value={localTime(from)}
            onChange={(event) => onChange({ from: unixTime(event.target.value), to })}
          />
          <TextInput
            type="datetime-local"
            aria-label="To"
            value={localTime(to)}
            onChange={(event) => onChange({ from, to: unixTime(event.target.value) })}
          />
        </>
      )}
    </div>
  );
}

const WORDS: Record<string, string> = { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days' };

/** The range in words. An empty text if it has neither a start nor an end. */
export function rangeWords(from: string | undefined, to: string | undefined): string {
  const [start, end] = [unixOf(from), unixOf(to)];
  if (start === null && end === null) return '';
  const span = WORDS[spanOf(from, to)];
  if (span) return span;
  return [start !== null && `from ${moment(start)}`, end !== null && `to ${moment(end)}`].filter(Boolean).join(' ');
}

/**
 * The choice that an address stands for. `from` may be somewhat longer ago, because time has passed since the choice.
 * @returns a name in `SPANS`, `exact`, or an empty text for any time
 */
function spanOf(from: string | undefined, to: string | undefined): string {
  const start = unixOf(from);
  if (unixOf(to) !== null) return 'exact';
  if (start === null) return '';
  const age = Date.now() / 1_000 - start;
  return Object.entries(SPANS).find(([, seconds]) => age >= seconds && age < seconds * 1.5)?.[0] ?? 'exact';
}

const isUtc = (): boolean => look().clock === 'utc';

/** `2026-11-23T01:30` in the time zone of the settings, as the control takes it. */
function localTime(unix: string | undefined): string {
  const at = unixOf(unix);
  if (at === null) return '';
  const offsetMs = isUtc() ? 0 : new Date(at * 1_000).getTimezoneOffset() * 60_000;
  return new Date(at * 1_000 - offsetMs).toISOString().slice(0, 16);
}

const unixTime = (local: string): string | undefined =>
  local ? String(Date.parse(isUtc() ? `${local}Z` : local) / 1_000) : undefined;
