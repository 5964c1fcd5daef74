import { useEffect, useState } from 'react';
import { report } from '../../parts/toasts.ts';
import type { Model } from './create.documents.ts';
import { type Draft, saveDraft } from './draft.ts';
import { type Fan, fanOf } from './fan-out.ts';
import { controlsOf, imagePlaceOf, imagesOf, schemaOf, switchModel, type Values } from './schema-rules.ts';

export interface Form {
  model: Model;
  values: Values;
  faults: Record<string, string>;
  fan: Fan;
  /** The task that the form was filled from; null once the prompt was cleared. */
  parent: string | null;
  /** What a change of the model has reset, with a function that undoes the change. */
  notes: { texts: string[]; undo(): void } | null;
  set(name: string, value: unknown): void;
  /** @param place the name of a field; by default, or if the model lacks it, the first field for references */
  addImages(fileIds: readonly string[], place?: string | null): void;
  replace(draft: Draft): void;
  setFaults(faults: Record<string, string>): void;
  forgetParent(): void;
  setFan(fan: Fan): void;
  choose(model: string): void;
}

/** The form of Create: a model and its values, kept in this tab. */
export function useForm(models: readonly [Model, ...Model[]], start: Draft): Form {
  const [draft, setDraft] = useState<Draft>(() => ({ ...start, uploaded: undefined }));
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [notes, setNotes] = useState<Form['notes']>(null);
  const model = models.find(({ id }) => id === draft.model) ?? models[0];
  useEffect(() => saveDraft(draft), [draft]);
  const clearFaults = (name: string) =>
    setFaults((before) =>
      Object.fromEntries(Object.entries(before).filter(([field]) => field.split(/[[.]/)[0] !== name)),
    );

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
      clearFaults(name);
    },
    addImages: (fileIds, place) => {
      const schema = schemaOf(model);
      const target =
        controlsOf(schema, draft.values).find(({ name }) => name === place) ?? imagePlaceOf(schema, draft.values);
      if (!target) return report(`${model.id} takes no reference image.`, true);
      const { name, kind } = target;
      const most = kind === 'image' ? 1 : (target.schema.maxItems ?? 1);
      const withMore = (value: unknown) => [...new Set([...imagesOf(value), ...fileIds])];
      if (kind === 'images' && withMore(draft.values[name]).length > most)
        report(`${model.id} takes at most ${most}.`, true);
      // Several images may come before the next render, so each update starts from the state before it.
      setDraft((before) => ({
        ...before,
        values: {
          ...before.values,
          [name]: kind === 'image' ? fileIds[0] : withMore(before.values[name]).slice(0, most),
        },
      }));
      clearFaults(name);
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
