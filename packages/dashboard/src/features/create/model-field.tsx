import { Field } from '../../parts/field.tsx';
import { Select } from '../../parts/select.tsx';
import { duration } from '../../format/time.ts';
import { type Model, typicalRunS } from './create.documents.ts';
import type { Form } from './use-form.ts';

/** The choice of the model, with the time that its tasks typically run. */
export function ModelField({ models, form }: { models: readonly Model[]; form: Form }) {
  const { model } = form;
  const typicalS = typicalRunS(model);
  return (
    <Field
      label="Model"
      hint={model.sandbox ? `${model.description} Sandbox: free, nothing leaves the service.` : model.description}
      aside={typicalS === null ? undefined : `typically ${duration(typicalS)}`}
    >
      {(ids) => (
        <Select {...ids} value={model.id} onChange={(event) => form.choose(event.target.value)}>
          {models.map(({ id, kind, available }) => (
            <option key={id} value={id} disabled={!available}>
              {id} · {kind.toLowerCase()}
              {available ? '' : ' · not available'}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
