import { useEffect, useRef, useState } from 'react';
import { report } from '../../parts/toasts.ts';
import type { Model } from './create.documents.ts';
import { type Draft, saveDraft } from './draft.ts';
import { type Fan, fanOf } from './fan-out.ts';
import { withImages } from './image-places.ts';
import { imagesOf, schemaOf, switchModel, type Values } from './schema-rules.ts';

/** The content of the form, from which requests are made. */
export interface Content {
  model: Model;
  values: Values;
  fan: Fan;
  /**
   * The task that the form was filled from, or null. It becomes null again when the task no longer counts, for example
   * when the prompt was cleared.
   */
  parent: string | null;
}

export interface Form extends Content {
  faults: Record<string, string>;
  /** What a change of the model has reset, with a function that undoes the change; null: nothing. */
  notes: { texts: string[]; undo(): void } | null;
  /** The newest content, which may not be rendered yet. */
  now(): Content;
  /** Images of this service that came since the last render. The user has not seen them, so they are not replaced. */
  unseenImages(): string[];
  set(name: string, value: unknown): void;
  /** @param place the preferred field. Without it, or when it is full, the images go into the first field with room */
  addImages(fileIds: readonly string[], place?: string | null): void;
  replace(draft: Draft): void;
  setFaults(faults: Record<string, string>): void;
  forgetParent(): void;
  setFan(fan: Fan): void;
  choose(model: string): void;
}

/** The form of Create: a model and its values, kept in this tab. */
export function useForm(models: readonly [Model, ...Model[]], start: Draft): Form {
  const [draft, setDraft] = useState<Draft>(start);
  /** Several changes may come before the next render, so each starts from the newest draft. */
  const newest = useRef(draft);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [notes, setNotes] = useState<Form['notes']>(null);
  const contentOf = (of: Draft): Content => {
    const model = models.find(({ id }) => id === of.model) ?? models[0];
    return { model, values: of.values, fan: fanOf(of, models, model), parent: of.parent ?? null };
  };
  const now = () => contentOf(newest.current);
  useEffect(() => saveDraft(newest.current), []);
  const put = (next: Draft) => {
    newest.current = next;
    setDraft(next);
    saveDraft(next);
  };
  const change = (part: Partial<Draft>) => put({ ...newest.current, ...part });
  const clearFaults = (name: string) =>
    setFaults((before) =>
      Object.fromEntries(Object.entries(before).filter(([field]) => field.split(/[[.]/)[0] !== name)),
    );
  const addImages = (fileIds: readonly string[], place: string | null = null) => {
    const { model, values } = now();
    const { values: next, left } = withImages(schemaOf(model), values, fileIds, {
      name: place,
      unseen: unseenImages(),
    });
    if (left > 0) report(`${model.id} takes no more images: ${left} ${left === 1 ? 'is' : 'are'} left out.`, true);
    change({ values: next });
    for (const name of Object.keys(next)) if (next[name] !== values[name]) clearFaults(name);
  };
  const unseenImages = () =>
    Object.entries(newest.current.values).flatMap(([name, value]) =>
      ownImages({ value }).filter((image) => !imagesOf(draft.values[name]).includes(image)),
    );

  return {
    ...contentOf(draft),
    faults,
    notes,
    now,
    unseenImages,
    forgetParent: () => change({ parent: null }),
    setFan: (fan) => change(fan),
    setFaults,
    set: (name, value) => {
      const values = { ...newest.current.values, [name]: value };
      change({ values, ...(name === 'prompt' && value === '' && { parent: null }) });
      clearFaults(name);
    },
    addImages,
    replace: (next) => {
      put(next);
      setFaults({});
      setNotes(null);
    },
    choose: (id) => {
      const next = models.find((each) => each.id === id);
      if (!next) return;
      const before = newest.current;
      const { model, values: old } = now();
      const { values, notes: texts } = switchModel(old, schemaOf(model), schemaOf(next), id);
      const undo = () => {
        const had = new Set([...ownImages(old), ...ownImages(values)]);
        const since = ownImages(newest.current.values).filter((image) => !had.has(image));
        put(before);
        addImages(since);
        setNotes(null);
      };
      setNotes(texts.length === 0 ? null : { texts, undo });
      change({ model: id, values });
      setFaults({});
    },
  };
}

/** The ids of files of this service among the values. */
const ownImages = (values: Values): string[] =>
  Object.values(values)
    .flatMap(imagesOf)
    .filter((image) => image.startsWith('file_'));
