import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { ROOT_FOLDER } from '../../platform/config/root-folder.ts';
import { hint, type Path, shown } from './fault.ts';
import type { YamlFile } from './yaml-file.ts';

/** The schema of declarations as it is published. */
export const schemaText = (): string => readFileSync(`${ROOT_FOLDER}models/schema.json`, 'utf8');

interface Schema {
  properties?: object;
  enum?: unknown[];
  $defs?: Record<string, { pattern?: string }>;
}

let compiled: { validate: ValidateFunction; datePattern: string | undefined } | undefined;

/** Compiled for the first file that is checked, because an installation without its own models needs no validator. */
function validator() {
  if (compiled) return compiled;
  const schema = JSON.parse(schemaText()) as Schema;
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false, meta: false, validateSchema: false });
  compiled = { validate: ajv.compile(schema), datePattern: schema.$defs?.date?.pattern };
  return compiled;
}

/** Validates a file against the schema of declarations. Adds faults to `file.faults`. @returns whether it fits */
export function fitsSchema(file: YamlFile): boolean {
  const { validate } = validator();
  if (validate(file.value)) return true;
  for (const error of validate.errors ?? []) report(error, file);
  return false;
}

/** Keywords whose errors are not reported, because other errors at the same path say the same. */
const SILENT = new Set(['anyOf']);

function report(error: ErrorObject, file: YamlFile): void {
  if (SILENT.has(error.keyword) || error.propertyName !== undefined) return;
  const path = pathOf(error.instancePath, file.value);
  const { params, data } = error;
  const schema = error.parentSchema as Schema;
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = params.additionalProperty as string;
      file.fault(
        [...path, name],
        `unknown field ${shown(name)}${hint(name, Object.keys(schema.properties ?? {}))}`,
        'key',
      );
      return;
    }
    case 'propertyNames': {
      const name = params.propertyName as string;
      file.fault([...path, name], nameFault(name, path, error), 'key');
      return;
    }
    case 'required':
      file.fault([...path, params.missingProperty as string], `${params.missingProperty} is missing`);
      return;
    case 'type':
      file.fault(path, typeFault(nameOf(path), params.type as string | string[], data, file.sourceOf(path)));
      return;
    case 'enum':
      file.fault(path, `${nameOf(path)} ${shown(data)} is not allowed; allowed are ${schema.enum!.join(', ')}`);
      return;
    case 'pattern':
      file.fault(path, patternFault(nameOf(path), params.pattern as string, data as string));
      return;
    default:
      file.fault(path, boundFault(nameOf(path), error));
  }
}

/** The last name in a path, with the indexes after it: `aliases[1]`. */
function nameOf(path: Path): string {
  const named = path.findLastIndex((step) => typeof step === 'string');
  const name = named < 0 ? 'the file' : String(path[named]);
  return path.slice(named + 1).reduce<string>((text, step) => `${text}[${step}]`, name);
}

function nameFault(name: string, path: Path, { schema }: ErrorObject): string {
  if (path.at(-1) === 'parameters') {
    const known = ((schema as { anyOf: Schema[] }).anyOf.find((each) => each.enum)?.enum ?? []) as string[];
    return `unknown parameter ${shown(name)}${hint(name, known)}, and own ones: x_ and at most 40 of a-z, 0-9 and _`;
  }
  if (path.at(-1) === 'rows') return `row ${shown(name)} must be a ratio such as 16:9`;
  return `unknown field ${shown(name)}${hint(name, ((schema as Schema).enum ?? []) as string[])}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  null: 'nothing',
};

function typeFault(name: string, types: string | string[], data: unknown, source: string | undefined): string {
  const wanted = [types].flat().map((type) => TYPES[type]);
  const isScalar = typeof data === 'number' || typeof data === 'boolean';
  const given = isScalar
    ? `the ${typeof data === 'number' ? 'number ' : 'word '}${source ?? String(data)}`
    : shown(data);
  const advice = isScalar && types === 'string' ? '; put it in quotes' : '';
  return `${name} must be ${wanted.join(' or ')}, not ${given}${advice}`;
}

const SHAPES: readonly [RegExp, string][] = [
  [/^\^\[a-z0-9\]/, 'must be 1 to 63 of a-z, 0-9, ".", "_" and "-", with a letter or digit first'],
  [/^\^https\?/, 'must be an http(s) address without white space and braces'],
  [/^\^\[A-Z\]/, 'must be the name of an environment variable such as FAL_KEY'],
  [/json\$$/, 'must be the name of a .json file'],
  [/^\^\\\$/, 'must be a path such as $.data[0].url'],
  [/^\^\/\[/, 'must be a path that begins with /'],
  [/x\[1-9\]/, 'must be WIDTHxHEIGHT in pixels'],
];

function patternFault(name: string, pattern: string, value: string): string {
  if (pattern === validator().datePattern) return `${shown(value)} is no date`;
  const shape = SHAPES.find(([of]) => of.test(pattern))?.[1] ?? `must match ${pattern}`;
  return `${name} ${shown(value)} ${shape}`;
}

function boundFault(name: string, { keyword, params, data }: ErrorObject): string {
  const limit = params.limit as number;
  switch (keyword) {
    case 'maximum':
      return `${name} ${shown(data)} is above ${limit}`;
    case 'minimum':
      return `${name} ${shown(data)} is below ${limit}`;
    case 'maxLength':
      return `${name} has more than ${limit} characters`;
    case 'maxItems':
      return `${name} has ${(data as unknown[]).length} items, at most ${limit}`;
    case 'maxProperties':
      return `${name} has ${Object.keys(data as object).length} fields, at most ${limit}`;
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return `${name} is empty`;
    case 'uniqueItems':
      return `${name} holds ${shown((data as unknown[])[params.j as number])} twice`;
    default:
      return `${name} is not valid`;
  }
}

/** Converts a JSON pointer such as `/bindings/1/send` to steps. */
function pathOf(pointer: string, value: unknown): Path {
  let at = value;
  return pointer
    .split('/')
    .slice(1)
    .map((escaped) => {
      const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
      const step = Array.isArray(at) ? Number(name) : name;
      at = (at as Record<string | number, unknown> | undefined)?.[step];
      return step;
    });
}
