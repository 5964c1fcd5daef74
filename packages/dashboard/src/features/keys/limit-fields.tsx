import { Field } from '../../parts/field.tsx';
import { Select } from '../../parts/select.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import styles from './keys.module.css';
import { type LimitName, LIMITS, type LimitTexts } from './limits.ts';

interface Props {
  texts: LimitTexts;
  onChange(texts: LimitTexts): void;
}

/** Limits and budget of a key. An empty limit means the value that the operator has configured. */
export function LimitFields({ texts, onChange }: Props) {
  const set = (name: LimitName, text: string) => onChange({ ...texts, limits: { ...texts.limits, [name]: text } });
  return (
    <div className={styles.limits}>
      {LIMITS.map(({ name, label, hint, min = 0, max }) => (
        <Field key={name} label={label} hint={hint}>
          {(ids) => (
            <TextInput
              {...ids}
              type="number"
              min={min}
              max={max}
              placeholder="as configured"
              value={texts.limits[name]}
              onChange={(event) => set(name, event.target.value)}
            />
          )}
        </Field>
      ))}
      <Field label="Budget" hint="in the currency of the prices; empty: none">
        {(ids) => (
          <TextInput
            {...ids}
            type="number"
            min={0}
            step="any"
            placeholder="no budget"
            value={texts.amount}
            onChange={(event) => onChange({ ...texts, amount: event.target.value })}
          />
        )}
      </Field>
      <Field label="Period of the budget" hint="in UTC">
        {(ids) => (
          <Select
            {...ids}
            disabled={texts.amount === ''}
            value={texts.period}
            onChange={(event) => onChange({ ...texts, period: event.target.value as LimitTexts['period'] })}
          >
            <option value="DAY">a day</option>
            <option value="MONTH">a month</option>
            <option value="TOTAL">in all</option>
          </Select>
        )}
      </Field>
      <Field label="Warn at, percent" hint="a webhook event; empty: none">
        {(ids) => (
          <TextInput
            {...ids}
            type="number"
            min={1}
            max={99}
            disabled={texts.amount === ''}
            value={texts.soft}
            onChange={(event) => onChange({ ...texts, soft: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}
