import { createStore } from '../../store.ts';
import { controlsOf, type ModelSchema, type Values } from './schema-rules.ts';

/**
 * Settings under a name, saved in this browser: a model and the values that were set, without prompt, images and
 * metadata.
 */
export interface Preset {
  name: string;
  model: string;
  values: Values;
}

const STORAGE_KEY = 'darkroom.presets';
const MAX_PRESETS = 50;

const presets = createStore<readonly Preset[]>(read());
export const { get: currentPresets, subscribe: onPresets } = presets;

function read(): Preset[] {
  try {
    const saved = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]') as unknown;
    return Array.isArray(saved) ? (saved as Preset[]) : [];
  } catch {
    return []; // storage is blocked or damaged
  }
}

function set(next: readonly Preset[]): void {
  presets.set(next.slice(0, MAX_PRESETS));
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(presets.get()));
  } catch {
    // Without storage the presets end with the page.
  }
}

/** Saves a preset. It replaces a preset with the same name. */
export const savePreset = (preset: Preset): void =>
  set([preset, ...presets.get().filter(({ name }) => name !== preset.name)]);

export const deletePreset = (name: string): void => set(presets.get().filter((each) => each.name !== name));

/** The values of a form that a preset saves. */
export function keptValues(schema: ModelSchema, values: Values): Values {
  const kept = controlsOf(schema, values).filter(({ kind }) => !['prompt', 'image', 'images', 'pairs'].includes(kind));
  return Object.fromEntries(kept.flatMap(({ name }) => (values[name] === undefined ? [] : [[name, values[name]]])));
}
