import type { ReactNode } from 'react';
import { codePoints } from '../../format/numbers.ts';
import { type ControlIds, Field } from '../../parts/field.tsx';
import { KeyValueRows } from '../../parts/key-value-rows.tsx';
import { RatioTiles } from '../../parts/ratio-tiles.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { Stepper } from '../../parts/stepper.tsx';
import { TextArea } from '../../parts/text-area.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { JsonInput } from './json-input.tsx';
import { ImageTray } from './image-tray.tsx';
import { SeedInput } from './seed-input.tsx';
import { SizeInput } from './size-input.tsx';
import { type Control, isPairs, mayBeCleared } from './schema-rules.ts';

/**
 * A parameter with a list of values shows them side by side if it has a default and at most this many values. Otherwise
 * it shows a drop-down list.
 */
const MAX_SEGMENTS = 6;

interface Props {
  control: Control;
  value: unknown;
  fault: string | null;
  faults: Record<string, string>;
  promptHint?: ReactNode;
  /** Whether to show the parameter's name in the API too, for users who read the code beside the form. */
  withName?: boolean;
  onChange(value: unknown): void;
}

/** One parameter of a model. */
export function FormControl(props: Props) {
  const { control, value, fault, promptHint, withName = false } = props;
  const { schema, kind, name, label, required, disabled } = control;
  const isPrompt = kind === 'prompt';
  const optional = !required && schema.default === undefined && !isPrompt && kind !== 'pairs' ? ' (optional)' : '';
  const limit = isPrompt
    ? `${codePoints(String(value ?? '')).toLocaleString()} / ${(schema.maxLength ?? 0).toLocaleString()}`
    : undefined;
  return (
    <Field
      label={label + optional}
      error={fault}
      hint={
        disabled ??
        (isPrompt ? promptHint : undefined) ??
        (isPrompt || kind === 'ratio' || kind === 'images' || kind === 'image' ? undefined : schema.description)
      }
      aside={limit}
      name={name}
      showsName={withName}
    >
      {(ids) => <Input {...props} ids={ids} />}
    </Field>
  );
}

function Input({ control, value, faults, ids, onChange }: Props & { ids: ControlIds }) {
  const { schema, kind, label, name, disabled } = control;
  const text = typeof value === 'string' ? value : '';
  const shown = String(value ?? schema.default ?? '');
  const cleared = mayBeCleared(kind, schema) ? '' : undefined;
  const choices = (schema.enum ?? []).map(String);
  // Controls return text, but the values in the schema may be numbers.
  const choose = (choice: string) => onChange(schema.enum?.find((each) => String(each) === choice));
  switch (kind) {
    case 'prompt':
      return (
        <TextArea
          {...ids}
          name={name}
          value={text}
          rows={4}
          placeholder="Describe what to make"
          onChange={(event) => onChange(event.target.value)}
        />
      );
    case 'ratio':
      return <RatioTiles label={label} value={shown} options={choices} onChange={choose} />;
    case 'choice':
      return schema.default !== undefined && choices.length <= MAX_SEGMENTS ? (
        <Segments
          label={label}
          value={shown}
          options={choices.map((each) => ({ value: each, label: each }))}
          onChange={choose}
          disabled={disabled !== null}
        />
      ) : (
        <Select {...ids} value={shown} disabled={disabled !== null} onChange={(event) => choose(event.target.value)}>
          {schema.default === undefined && <option value="">as the provider makes it</option>}
          {choices.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
      );
    case 'switch':
      return (
        <Segments
          label={label}
          value={value === undefined ? String(schema.default ?? 'false') : String(value)}
          options={[
            { value: 'true', label: 'On' },
            { value: 'false', label: 'Off' },
          ]}
          onChange={(next) => onChange(next === 'true')}
          disabled={disabled !== null}
        />
      );
    case 'decimal':
      return (
        <TextInput
          {...ids}
          type="number"
          step="any"
          min={schema.minimum}
          max={schema.maximum}
          placeholder={schema.default === undefined ? 'as the provider makes it' : String(schema.default)}
          value={value === undefined ? '' : String(value)}
          disabled={disabled !== null}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
        />
      );
    case 'area':
      return (
        <TextArea
          {...ids}
          name={name}
          value={shown}
          rows={2}
          disabled={disabled !== null}
          onChange={(event) => onChange(event.target.value || cleared)}
        />
      );
    case 'seed':
      return (
        <SeedInput
          ids={ids}
          max={schema.maximum ?? 2_147_483_647}
          value={value}
          disabled={disabled !== null}
          onChange={onChange}
        />
      );
    case 'size':
      return <SizeInput ids={ids} schema={schema} value={value} onChange={onChange} />;
    case 'json':
      return <JsonInput ids={ids} name={name} value={value} disabled={disabled !== null} onChange={onChange} />;
    case 'number':
      return (
        <Stepper
          label={label}
          ids={ids}
          value={Number(value ?? schema.default ?? schema.minimum ?? 0)}
          min={schema.minimum ?? 0}
          max={schema.maximum ?? 1_000}
          unit={schema.description?.toLowerCase().includes('second') ? 's' : undefined}
          onChange={onChange}
        />
      );
    case 'image':
    case 'images':
      return (
        <ImageTray
          ids={ids}
          label={label}
          name={name}
          faults={faults}
          max={kind === 'image' ? 1 : (schema.maxItems ?? 1)}
          disabled={disabled !== null}
          value={Array.isArray(value) ? (value as string[]) : text ? [text] : []}
          onChange={(images) => onChange(kind === 'image' ? images[0] : images)}
        />
      );
    case 'pairs':
      return <KeyValueRows value={isPairs(value) ? value : {}} max={16} onChange={onChange} />;
    default:
      return (
        <TextInput
          {...ids}
          value={shown}
          disabled={disabled !== null}
          onChange={(event) => onChange(event.target.value || cleared)}
        />
      );
  }
}
