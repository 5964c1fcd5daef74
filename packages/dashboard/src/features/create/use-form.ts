import { useEffect, useState } from 'react';
import type { Model } from './create.documents.ts';
import { type Draft, saveDraft } from './draft.ts';
import { type Fan, fanOf } from './fan-out.ts';
import { schemaOf, switchModel, type Values } from './schema-rules.ts';

export interface Form {
  model: Model;
  values: Values;
  faults: Record<string, string>;
  fan: Fan;
  /** The task that this began with; a new prompt ends it. */
  parent: string | null;
  /** What changing the model has reset, with the way back. */
  notes: { texts: string[]; undo(): void } | null;
  set(name: string, value: unknown): void;
  replace(draft: Draft): void;
  setFaults(faults: Record<string, string>): void;
  forgetParent(): void;
  setFan(fan: Fan): void;
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
    fan: fanOf(draft, models, model),
    parent: draft.parent ?? null,
    forgetParent: () => setDraft((before) => ({ ...before, parent: null })),
    setFan: (fan) => setDraft((before) => ({ ...before, ...fan })),
    setFaults,
    set: (name, value) => {
      setDraft((before) => ({
        ...before,
        values: { ...before.values, [name]: value },
        ...(name === 'prompt' && value === '' && { parent: null }),
      }));
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
      const { values, notes: texts } = switchModel(draft.values, schemaOf(model), schemaOf(next), id);
      setNotes(texts.length === 0 ? null : { texts, undo: () => (setDraft(draft), setNotes(null)) });
      setDraft({ ...draft, model: id, values });
      setFaults({});
    },
  };
}
