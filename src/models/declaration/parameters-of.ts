import { imageFormat, imageFormatRule } from '../definition/fields.ts';
import {
  type ParameterCondition,
  type ParameterRule,
  type ParameterSchema,
  parametersOf,
  type ParametersSchema,
  type Scalar,
} from '../definition/parameters.ts';
import type { Declaration, DeclaredRule } from './declaration.ts';
import { sizeParametersOf } from './sizes-of.ts';
import { isOwn, ownSchema, VOCABULARY } from './vocabulary.ts';

/** The names of a model's parameters in published order: first those of the vocabulary, then its own. */
export function parameterNamesOf(model: Declaration): string[] {
  const named = new Set([...Object.keys(model.parameters), ...sizeParametersOf(model)]);
  const own = Object.keys(model.parameters).filter(isOwn);
  return [...Object.keys(VOCABULARY).filter((name) => named.has(name)), ...own];
}

/** The schema of the requests that a model takes. */
export function requestSchemaOf(model: Declaration): ParametersSchema {
  const names = parameterNamesOf(model);
  const schemas = (chosen: readonly string[]) =>
    Object.fromEntries(chosen.map((name) => [name, parameterSchemaOf(model, name)]));
  const properties = {
    ...schemas(names.filter((name) => !isOwn(name))),
    ...(model.kind === 'image' && imageFormat),
    ...schemas(names.filter(isOwn)),
  };
  const rules = [
    ...(model.kind === 'image' ? [imageFormatRule] : []),
    ...(names.includes('background') ? [BACKGROUND_RULE] : []),
    ...(names.includes('size') && names.includes('aspect_ratio') ? [SIZE_RULE] : []),
    ...(model.rules ?? []).map(ruleOf),
  ];
  const needs = names.flatMap((name): [string, readonly string[]][] => {
    const others = VOCABULARY[name]?.needs;
    return others ? [[name, others]] : [];
  });
  return parametersOf(model.id, properties, rules, Object.fromEntries(needs));
}

export function parameterSchemaOf(model: Declaration, name: string): ParameterSchema {
  const given = model.parameters[name] ?? {};
  return isOwn(name) ? ownSchema(given) : VOCABULARY[name]!.schema(given, model);
}

/** JPEG has no transparency. */
const BACKGROUND_RULE: ParameterRule = {
  if: { properties: { output_format: { const: 'jpeg' } }, required: ['output_format'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: {
    properties: {
      background: { not: { const: 'transparent' }, description: 'cannot be transparent with output_format "jpeg"' },
    },
  },
};

const WITH_SIZE = { not: {}, description: 'cannot be combined with size' };
const SIZE_RULE: ParameterRule = {
  if: { properties: { size: {} }, required: ['size'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { properties: { aspect_ratio: WITH_SIZE, resolution: WITH_SIZE } },
};

function ruleOf({ when, requires = [], excludes = [] }: DeclaredRule): ParameterRule {
  const isAbsence = Object.values(when).every((value) => value === 'absent');
  const why = isAbsence ? `needs ${Object.keys(when).join(' or ')}` : `cannot be combined with ${inWords(when)}`;
  const notAllowed = { not: {}, description: why };
  return {
    if: conditionOf(when),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: {
      properties: Object.fromEntries([
        ...requires.map((name) => [name, {}]),
        ...excludes.map((name) => [name, notAllowed]),
      ]),
      ...(requires.length > 0 && { required: requires }),
    },
  };
}

/** Lists each required parameter among the properties too, because validators in strict mode demand that. */
function conditionOf(when: DeclaredRule['when']): ParameterCondition {
  const entries = Object.entries(when);
  const there = entries.filter(([, value]) => value !== 'absent').map(([name]) => name);
  return {
    properties: Object.fromEntries(entries.map(([name, value]) => [name, valueCondition(value)])),
    ...(there.length > 0 && { required: there }),
  };
}

function valueCondition(value: unknown): false | { const?: Scalar; enum?: readonly Scalar[] } {
  if (value === 'absent') return false;
  if (value === 'present') return {};
  return Array.isArray(value) ? { enum: value as Scalar[] } : { const: value as Scalar };
}

/** A condition in words, for example `reference_mode "first_frame"`. */
function inWords(when: DeclaredRule['when']): string {
  return Object.entries(when)
    .map(([name, value]) => {
      if (value === 'present') return name;
      if (value === 'absent') return `no ${name}`;
      return `${name} ${[value]
        .flat()
        .map((each) => JSON.stringify(each))
        .join(' or ')}`;
    })
    .join(' and ');
}
