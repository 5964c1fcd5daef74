import type { ParameterSchema, Scalar } from '../definition/parameters.ts';
import { parsePixels } from '../definition/sizes.ts';
import { sizeInWords, takesSize } from '../definition/pixel-rule.ts';
import type { Declaration, DeclaredParameter } from './declaration.ts';
import { shown } from './fault.ts';
import { parameterNamesOf, parameterSchemaOf } from './parameters-of.ts';
import { pixelRuleOf, sizeParametersOf } from './sizes-of.ts';
import { isOwn, LATER, VOCABULARY } from './vocabulary.ts';
import type { YamlFile } from './yaml-file.ts';

const MAX_OWN = 32;
const PLURAL = { image: 'images', video: 'videos' } as const;

/**
 * Checks the parameters of a declaration: shared ones against the vocabulary, own ones by their type. Adds what is
 * wrong to `file.faults`.
 */
export function checkParameters(file: YamlFile, model: Declaration): void {
  const own = Object.keys(model.parameters).filter(isOwn);
  if (own.length > MAX_OWN) file.fault(['parameters'], `parameters has ${own.length} own ones, at most ${MAX_OWN}`);
  for (const [name, given] of Object.entries(model.parameters)) {
    if (isOwn(name)) checkOwn(file, name, given);
    else checkWord(file, name, model);
  }
  if (!model.sizes.table && !model.sizes.pixels) file.fault(['sizes'], 'sizes needs a table, pixels or both');
  if (file.faults.length > 0) return;
  checkSizeDefault(file, model);
  for (const name of parameterNamesOf(model)) checkDefault(file, name, model);
}

function checkWord(file: YamlFile, name: string, model: Declaration): void {
  const path = ['parameters', name];
  const given = model.parameters[name]!;
  const word = VOCABULARY[name];
  if (!word || LATER.has(name)) return file.fault(path, `${name} is not supported yet`, 'key');
  const { kind, sets, values, range, needs, needsDefault } = word;
  if (kind !== 'both' && kind !== model.kind) {
    return file.fault(path, `${name} is not for ${PLURAL[model.kind]}`, 'key');
  }
  if (SIZES.has(name) && !sizeParametersOf(model).includes(name)) {
    return file.fault(path, `${name} needs sizes.${name === 'size' ? 'pixels' : 'table'}`, 'key');
  }
  for (const bound of Object.keys(given)) {
    if (bound !== 'description' && !(sets as readonly string[]).includes(bound)) {
      file.fault([...path, bound], `${name} takes no ${bound}`, 'key');
    }
  }
  const missing = needs?.find((other) => !model.parameters[other]);
  if (missing !== undefined) file.fault(path, `${name} needs the parameter ${missing}`, 'key');
  if (needsDefault && given.default === undefined) file.fault([...path, 'default'], `${name}.default is missing`);
  given.enum?.forEach((value, at) => {
    if (values && !values.includes(value as string)) {
      file.fault([...path, 'enum', at], `${name} ${shown(value)} is not allowed; allowed are ${values.join(', ')}`);
    }
    if (range) checkNumber(file, [...path, 'enum', at], value, { name, range, isWhole: true });
  });
  const isWhole = word.schema(given, model).type !== 'number';
  for (const bound of ['minimum', 'maximum'] as const) {
    if (range && given[bound] !== undefined && sets.includes(bound)) {
      checkNumber(file, [...path, bound], given[bound], { name: bound, range, isWhole });
    }
  }
  checkOrder(file, path, given);
}

const SIZES: ReadonlySet<string> = new Set(['size', 'aspect_ratio', 'resolution']);

function checkNumber(
  file: YamlFile,
  path: (string | number)[],
  value: Scalar,
  { name, range: [least, most], isWhole }: { name: string; range: readonly [number, number]; isWhole: boolean },
): void {
  if (typeof value !== 'number' || (isWhole && !Number.isInteger(value))) {
    file.fault(path, `${name} must be a ${isWhole ? 'whole ' : ''}number, not ${shown(value)}`);
  } else if (value < least) file.fault(path, `${name} ${value} is below ${least}`);
  else if (value > most) file.fault(path, `${name} ${value} is above ${most}`);
}

function checkOrder(file: YamlFile, path: string[], { minimum, maximum }: DeclaredParameter): void {
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    file.fault([...path, 'minimum'], `minimum ${minimum} is above the maximum ${maximum}`);
  }
}

function checkOwn(file: YamlFile, name: string, given: DeclaredParameter): void {
  const path = ['parameters', name];
  for (const field of ['type', 'description'] as const) {
    if (given[field] === undefined) file.fault([...path, field], `${name}.${field} is missing`);
  }
  const { type } = given;
  if (type === undefined) return;
  const takes: Record<string, readonly string[]> = {
    string: ['enum', 'maxLength', 'default'],
    integer: ['enum', 'minimum', 'maximum', 'default'],
    number: ['enum', 'minimum', 'maximum', 'default'],
    boolean: ['default'],
  };
  for (const bound of Object.keys(given)) {
    if (bound === 'type' || bound === 'description' || takes[type]!.includes(bound)) continue;
    file.fault([...path, bound], `${name}, a ${type}, takes no ${bound}`, 'key');
  }
  if (type === 'string' && given.maxLength === undefined && given.enum === undefined) {
    file.fault([...path, 'maxLength'], `${name} needs maxLength or enum`);
  }
  given.enum?.forEach((value, at) => {
    if (!isOf(type, value)) file.fault([...path, 'enum', at], `${name} must be ${TYPES[type]}, not ${shown(value)}`);
  });
  checkOrder(file, path, given);
}

const TYPES = { string: 'a string', integer: 'a whole number', number: 'a number', boolean: 'true or false' } as const;

function isOf(type: ParameterSchema['type'], value: Scalar): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/**
 * Without a table, only `size` says how large the result is, so `size` needs a default. With a table, `aspect_ratio`
 * and `resolution` say it, so `size` must not have a default.
 */
function checkSizeDefault(file: YamlFile, model: Declaration): void {
  const rule = pixelRuleOf(model);
  if (!rule) return;
  const path = ['parameters', 'size', 'default'];
  const byDefault = model.parameters.size?.default;
  if (model.sizes.table) {
    if (byDefault !== undefined) file.fault(path, 'size takes no default beside sizes.table');
  } else if (byDefault === undefined) file.fault(path, 'size.default is missing');
  else if (typeof byDefault !== 'string') file.fault(path, `default must be a string, not ${shown(byDefault)}`);
  else {
    const size = parsePixels(byDefault);
    if (!size || !takesSize(rule, size)) file.fault(path, `default ${shown(byDefault)} is not ${sizeInWords(rule)}`);
  }
}

function checkDefault(file: YamlFile, name: string, model: Declaration): void {
  const value = model.parameters[name]?.default;
  if (value === undefined || name === 'size') return;
  const path = ['parameters', name, 'default'];
  const schema = parameterSchemaOf(model, name);
  const { type, enum: values, minimum = -Infinity, maximum = Infinity, maxLength = Infinity } = schema;
  if (!isOf(type, value)) {
    const source = file.sourceOf(path) ?? value;
    const given = typeof value === 'string' ? shown(value) : `the ${typeof value} ${source}`;
    file.fault(path, `default must be ${TYPES[type as keyof typeof TYPES]}, not ${given}`);
  } else if (values && !values.includes(value)) {
    file.fault(path, `default ${shown(value)} is not one of ${values.join(', ')}`);
  } else if (typeof value === 'number' && (value < minimum || value > maximum)) {
    file.fault(path, `default ${value} is not within ${minimum} to ${maximum}`);
  } else if (typeof value === 'string' && [...value].length > maxLength) {
    file.fault(path, `default has more than ${maxLength} characters`);
  }
}
