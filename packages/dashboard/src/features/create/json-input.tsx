import { useState } from 'react';
import type { ControlIds } from '../../parts/field.tsx';
import { TextArea } from '../../parts/text-area.tsx';

interface Props {
  ids: ControlIds;
  name: string;
  value: unknown;
  disabled: boolean;
  onChange(value: unknown): void;
}

/**
 * Edits a parameter as JSON, if no other control fits its type. Invalid JSON is sent as text, so that the service says
 * what is wrong with it.
 */
export function JsonInput({ ids, name, value, disabled, onChange }: Props) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  return (
    <TextArea
      {...ids}
      name={name}
      rows={2}
      spellCheck={false}
      placeholder="JSON"
      value={text}
      disabled={disabled}
      onChange={({ target }) => {
        setText(target.value);
        onChange(target.value.trim() === '' ? undefined : parsed(target.value));
      }}
    />
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
