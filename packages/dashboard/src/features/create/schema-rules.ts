import { looksLikeRatios } from '../../format/ratio.ts';

/** The JSON Schema of a parameter, as far as models use it. */
export interface ParameterSchema {
  type?: string;
  description?: string;
  const?: unknown;
  enum?: readonly (string | number | boolean)[];
  default?: string | number | boolean;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  format?: string;
  maxItems?: number;
  items?: ParameterSchema;
  additionalProperties?: ParameterSchema | boolean;
  not?: object;
}

export interface ModelSchema {
  properties: Record<string, ParameterSchema>;
  required?: string[];
  if?: Condition;
  then?: Branch;
  else?: Branch;
  /** Further `if` rules, beside the `if` of the schema itself. */
  allOf?: Rule[];
  /** For a parameter: the names of the parameters that it needs. */
  dependentRequired?: Record<string, string[]>;
}

type Rule = Pick<ModelSchema, 'if' | 'then' | 'else'>;

interface Condition {
  /** false: the parameter must be absent. */
  properties?: Record<string, false | { const?: unknown; enum?: unknown[] }>;
  required?: string[];
}

interface Branch {
  properties?: Record<string, ParameterSchema | true>;
  required?: string[];
}

export type Values = Record<string, unknown>;

export const schemaOf = (model: { parameters: unknown }): ModelSchema => model.parameters as ModelSchema;

export type ControlKind =
  | 'prompt'
  | 'area'
  | 'text'
  | 'ratio'
  | 'choice'
  | 'size'
  | 'number'
  | 'seed'
  | 'decimal'
  | 'switch'
  | 'image'
  | 'images'
  | 'pairs'
  | 'json';

export interface Control {
  name: string;
  label: string;
  kind: ControlKind;
  schema: ParameterSchema;
  required: boolean;
  /** Why the field has no effect beside the other values; null: the field has an effect. */
  disabled: string | null;
  /** Whether the control lies behind "More options". */
  extra: boolean;
  /** Whether only this model has the parameter. */
  own: boolean;
}

/** A string that may be longer than this gets a text area. */
const LONG_TEXT = 500;

const ORDER: ControlKind[] = [
  'prompt',
  'image',
  'images',
  'ratio',
  'choice',
  'size',
  'number',
  'decimal',
  'switch',
  'seed',
  'area',
  'text',
  'pairs',
  'json',
];

/** The controls of a model, from its schema and the values of the form. */
export function controlsOf(schema: ModelSchema, values: Values): Control[] {
  const { required, disabled } = rulesFor(schema, values);
  let isPastPairs = false;
  const controls = Object.entries(schema.properties).flatMap(([name, field]): Control[] => {
    if (field.const !== undefined) return [];
    const kind = kindOf(field, name);
    const own = name.startsWith('x_');
    const off = disabled.get(name) ?? null;
    isPastPairs ||= kind === 'pairs';
    const isPlain = field.default === undefined && !required.has(name) && kind !== 'image' && kind !== 'images';
    const needs = {
      required: required.has(name),
      disabled: off,
      extra: !own && (isPastPairs || isPlain || (off !== null && !isImage(kind))),
      own,
    };
    return [{ name, label: labelOf(name), kind, schema: field, ...needs }];
  });
  return controls.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

export const isImage = (kind: ControlKind): boolean => kind === 'image' || kind === 'images';

function kindOf(field: ParameterSchema, name = ''): ControlKind {
  if (name === 'prompt') return 'prompt';
  if (name === 'size') return 'size';
  if (name === 'seed') return 'seed';
  if (field.enum) return looksLikeRatios(field.enum) ? 'ratio' : 'choice';
  if (field.type === 'integer') return 'number';
  if (field.type === 'number') return 'decimal';
  if (field.type === 'boolean') return 'switch';
  if (field.format === 'image') return 'image';
  if (field.type === 'array' && field.items?.format === 'image') return 'images';
  if (field.type === 'object') return isTextMap(field) ? 'pairs' : 'json';
  if (field.type === 'string') return (field.maxLength ?? 0) > LONG_TEXT ? 'area' : 'text';
  return 'json';
}

const isTextMap = ({ additionalProperties: value }: ParameterSchema): boolean =>
  typeof value === 'object' && value.type === 'string';

/** `reference_images` is shown as `Reference images`, `x_steps` as `Steps`, `n` as `Images`. */
export function labelOf(name: string): string {
  if (name === 'n') return 'Images';
  const words = name.replace(/^x_|_url$/g, '').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function rulesFor(schema: ModelSchema, values: Values): { required: Set<string>; disabled: Map<string, string> } {
  const required = new Set((schema.required ?? []).filter((name) => name !== 'model'));
  const disabled = new Map<string, string>();
  const valueOf = (name: string) => (isEmpty(values[name]) ? schema.properties[name]?.default : values[name]);
  for (const rule of [schema, ...(schema.allOf ?? [])]) {
    const branch = rule.if && (holds(rule.if, values, schema) ? rule.then : rule.else);
    for (const name of branch?.required ?? []) required.add(name);
    for (const [name, field] of Object.entries(branch?.properties ?? {})) {
      if (field !== true && isNever(field.not)) disabled.set(name, field.description ?? 'Not with the other values.');
    }
  }
  for (const [name, needs] of Object.entries(schema.dependentRequired ?? {})) {
    const lacking = needs.find((other) => valueOf(other) === undefined);
    if (lacking !== undefined) disabled.set(name, `needs ${labelOf(lacking).toLowerCase()}`);
  }
  return { required, disabled };
}

/**
 * `not: {}` forbids every value. Any other `not` forbids only some values, which the service refuses with a message.
 */
const isNever = (not: object | undefined): boolean => not !== undefined && Object.keys(not).length === 0;

/**
 * Checks the values as the service sees them: the request leaves defaults out, so a missing value counts as its
 * default.
 */
function holds({ properties = {}, required = [] }: Condition, values: Values, schema: ModelSchema): boolean {
  const valueOf = (name: string) => (isEmpty(values[name]) ? schema.properties[name]?.default : values[name]);
  return (
    required.every((name) => valueOf(name) !== undefined) &&
    Object.entries(properties).every(([name, wanted]) => {
      const value = valueOf(name);
      if (wanted === false) return value === undefined;
      if (wanted.enum) return wanted.enum.includes(value);
      return !('const' in wanted) || value === wanted.const;
    })
  );
}

/**
 * The request without the values of disabled controls. Values that equal the default are left out too, but not if
 * `everything` is set.
 */
export function requestOf(model: string, schema: ModelSchema, values: Values, everything = false): Values {
  const request: Values = { model };
  for (const control of controlsOf(schema, values)) {
    const { name, schema: field, disabled } = control;
    const value = values[name] ?? (everything ? field.default : undefined);
    if (disabled !== null || !isSet(control, value) || (!everything && value === field.default)) continue;
    request[name] = value;
  }
  return request;
}

/** Whether an empty text must be sent, because a missing text means the default text. */
export const mayBeCleared = (kind: ControlKind, field: ParameterSchema): boolean =>
  isText(kind) && Boolean(field.default);

const isText = (kind: ControlKind): boolean => kind === 'prompt' || kind === 'area' || kind === 'text';

/** Whether the form has a value for the control. An empty text counts if `mayBeCleared`. */
export const isSet = ({ kind, schema }: Control, value: unknown): boolean =>
  !isEmpty(value) || (value === '' && mayBeCleared(kind, schema));

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isPairs(value) && Object.keys(value).length === 0);

export const isPairs = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first required value that is missing, in words; null: none. */
export function missing(schema: ModelSchema, values: Values): { name: string; text: string } | null {
  for (const { name, label, required, schema: field } of controlsOf(schema, values)) {
    const value = values[name];
    const isBlank = isEmpty(value) || (typeof value === 'string' && value.trim() === '');
    if (required && field.default === undefined && isBlank) return { name, text: `${label} is required.` };
  }
  return null;
}

interface Switched {
  values: Values;
  /** What was dropped or reset because the model lacks it, in words. */
  notes: string[];
}

/**
 * Carries values over to another model. It keeps what the model allows, corrects the letter case, and resets the rest.
 */
export function switchModel(values: Values, from: ModelSchema, to: ModelSchema, model: string): Switched {
  const kept: Values = {};
  const notes: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    const old = from.properties[name];
    const field = to.properties[name];
    // A text that the user cleared stays cleared. It is kept even if this model lacks the parameter, because a later
    // model may have the parameter.
    if (value === '' && (!field || isText(kindOf(field, name)))) kept[name] = '';
    if (isEmpty(value) || (old && isImage(kindOf(old)))) continue;
    const fitting = field && fit(value, field);
    if (fitting !== undefined) kept[name] = fitting;
    else {
      const said = typeof value === 'object' ? '' : ` ${String(value)}`;
      const lack = field ? said.trim() : labelOf(name).toLowerCase();
      notes.push(`${labelOf(name)}${said} → ${field?.default ?? 'none'}: ${model} has no ${lack}`);
    }
  }
  return carryImages(values, from, { to, model, kept, notes });
}

/** An image keeps its field if the model has it too. The other images take free fields, in the order of the form. */
function carryImages(
  values: Values,
  from: ModelSchema,
  { to, model, kept, notes }: { to: ModelSchema; model: string; kept: Values; notes: string[] },
): Switched {
  const next = { ...kept };
  const placesOf = (beside: Values) =>
    controlsOf(to, beside).filter(({ kind, disabled }) => isImage(kind) && disabled === null);
  const images = controlsOf(from, values).filter(({ kind }) => isImage(kind));
  // The field of a mask has an effect only beside the picture of the mask. So a mask keeps its field, but no other
  // picture goes into that field.
  const keeping = placesOf({ ...kept, ...Object.fromEntries(images.map(({ name }) => [name, values[name]])) });
  const places = placesOf(kept);
  const homeless: string[] = [];
  for (const { name, kind } of images) {
    const images = imagesOf(values[name]);
    const room = roomOf(keeping.find((place) => place.name === name));
    if (images.length > 0 && room > 0) next[name] = kind === 'image' ? images[0] : images.slice(0, room);
    homeless.push(...images.slice(room));
  }
  for (const place of places) {
    const here = imagesOf(next[place.name]);
    const more = homeless.splice(0, roomOf(place) - here.length);
    if (more.length > 0) next[place.name] = place.kind === 'image' ? more[0] : [...here, ...more];
  }
  const room = places.reduce((sum, place) => sum + roomOf(place), 0);
  const left = homeless.length;
  if (left === 0) return { values: next, notes };
  const takes = room === 0 ? 'no image' : room === 1 ? '1 image' : `${room} images`;
  return { values: next, notes: [...notes, `${model} takes ${takes}: ${left} ${left === 1 ? 'is' : 'are'} left out`] };
}

export const imagesOf = (value: unknown): string[] =>
  Array.isArray(value) ? (value as string[]) : typeof value === 'string' && value !== '' ? [value] : [];

export const roomOf = (place: Control | undefined): number =>
  place === undefined ? 0 : place.kind === 'image' ? 1 : (place.schema.maxItems ?? 1);

function fit(value: unknown, field: ParameterSchema): unknown {
  if (field.enum) return field.enum.find((each) => String(each).toLowerCase() === String(value).toLowerCase());
  if (field.type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (field.type === 'integer' || field.type === 'number') {
    const number = Number(value);
    return number >= (field.minimum ?? 0) && number <= (field.maximum ?? Infinity) ? number : undefined;
  }
  return value;
}

/** The text of a chip for a value: `3:2`, `×4`, `5 s`; null: the chip has no text. */
export function chipWords({ kind, schema, name, label }: Control, value: unknown): string | null {
  const shown = value ?? schema.default;
  if (kind === 'image' || kind === 'images') return null;
  if (kind === 'json') return value === undefined ? null : `${label}: set`;
  if (kind === 'pairs') return isPairs(value) ? `${Object.keys(value).length} ${label.toLowerCase()}` : null;
  if (shown === undefined || shown === '') return null;
  if (name === 'n') return `×${String(shown)}`;
  if (kind === 'switch') return `${label}: ${shown === true ? 'on' : 'off'}`;
  if (kind === 'number' && schema.description?.toLowerCase().includes('second')) return `${String(shown)} s`;
  if (kind === 'ratio') return String(shown);
  return kind === 'choice' && !['auto', 'omni'].includes(String(shown)) ? String(shown) : `${label}: ${String(shown)}`;
}

/** The bounds of a size, read from the description in the schema, and the size to start from. */
export function sizeBounds({ description = '', default: byDefault }: ParameterSchema) {
  const [, step, , min, max] = /(?:multiple of (\d+)|whole number)( from (\d+) to (\d+))/.exec(description) ?? [];
  const bounds = { step: Number(step ?? 1), min: Number(min ?? 16), max: Number(max ?? 9_999) };
  return { ...bounds, start: pixelsIn(byDefault) ?? pixelsIn('1024x1024')! };
}

/** The sides in a text such as `1024x1024`; null: the text is no size. */
export function pixelsIn(size: unknown): { width: number; height: number } | null {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(String(size)) ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}
