import { useEffect, useState } from 'react';
import type { Model } from './create.documents.ts';
import { type Draft, saveDraft } from './draft.ts';
import { type ModelSchema, switchModel, type Values } from './schema-rules.ts';

export const schemaOf = (model: Model): ModelSchema => model.parameters as ModelSchema;

export interface Form {
  model: Model;
  values: Values;
  faults: Record<string, string>;
  /** What changing the model has reset, with the way back. */
  notes: { texts: string[]; undo(): void } | null;
  set(name: string, value: unknown): void;
  replace(draft: Draft): void;
  setFaults(faults: Record<string, string>): void;
  choose(model: string): void;
}

/** The form of Create: a model and its values, kept in this tab. */
export function useForm(models: readonly [Model, ...Model[]], start: Draft): Form {
  const [draft, setDraft] = useState(start);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [notes, setNotes] = useState<Form['notes']>(null);
  const model = models.find(({ id }) => id === draft.model) ?? models[0];
  useEffect(() => saveDraft(draft), [draft]);

  return {
    model,
    values: draft.values,
    faults,
    notes,
    setFaults,
    set: (name, value) => {
      setDraft((before) => ({ ...before, values: { ...before.values, [name]: value } }));
      setFaults((before) =>
        Object.fromEntries(Object.entries(before).filter(([field]) => field.split(/[[.]/)[0] !== name)),
      );
    },
    replace: (next) => {
      setDraft(next);
      setFaults({});
      setNotes(null);
    },
    choose: (id) => {
      const next = models.find((each) => each.id === id);
      if (!next) return;
      const { values, notes: texts } = switchModel(draft.values, schemaOf(next), id);
      setNotes(texts.length === 0 ? null : { texts, undo: () => (setDraft(draft), setNotes(null)) });
      setDraft({ model: id, values });
      setFaults({});
    },
  };
}
