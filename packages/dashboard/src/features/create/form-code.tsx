import { useState } from 'react';
import { Checkbox } from '../../parts/checkbox.tsx';
import { RequestCode } from '../../parts/request-code.tsx';
import { type ModelSchema, requestOf, type Values } from './schema-rules.ts';

interface Props {
  model: string;
  schema: ModelSchema;
  values: Values;
}

/** The request of the form as code, kept up to date while one types. */
export function FormCode({ model, schema, values }: Props) {
  const [defaults, setDefaults] = useState(false);
  const prompt = values.prompt || 'A lighthouse at dusk';
  return (
    <RequestCode request={requestOf(model, schema, { ...values, prompt }, defaults)}>
      <Checkbox checked={defaults} onChange={(event) => setDefaults(event.target.checked)}>
        with defaults
      </Checkbox>
    </RequestCode>
  );
}
