import type { Declaration } from './declaration.ts';
import { checkParameters } from './check-parameters.ts';
import { shown } from './fault.ts';
import { parameterNamesOf, parameterSchemaOf } from './parameters-of.ts';
import { pixelRuleOf } from './sizes-of.ts';
import type { YamlFile } from './yaml-file.ts';

/**
 * Checks what the schema of declarations cannot express, such as dates. `checkBindings` in src/providers checks the
 * bindings. Adds what is wrong to `file.faults`.
 */
export function checkDeclaration(file: YamlFile, model: Declaration): void {
  checkTable(file, model);
  checkPixels(file, model);
  checkParameters(file, model);
  const names = new Set([...parameterNamesOf(model), ...Object.keys(model.parameters)]);
  checkRules(file, model, names);
  if (file.faults.length === 0) checkGuidance(file, model);
  checkDates(file, model);
}

function checkTable(file: YamlFile, { kind, sizes: { table } }: Declaration): void {
  if (!table) return;
  const width = table.columns.length;
  for (const [ratio, cells] of Object.entries(table.rows)) {
    const path = ['sizes', 'table', 'rows', ratio];
    if (cells.length !== width) {
      const have = `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`;
      file.fault(path, `row "${ratio}" has ${have}, columns has ${width}`);
    }
    cells.forEach((cell, at) => {
      const isOdd = cell.split('x').some((side) => Number(side) % 2 === 1);
      if (kind === 'video' && isOdd) file.fault([...path, at], `${cell} has an odd side`);
    });
  }
}

function checkPixels(file: YamlFile, model: Declaration): void {
  const rule = pixelRuleOf(model);
  if (!rule) return;
  const at = (field: string) => ['sizes', 'pixels', field];
  const { step, min_side, max_side, min_pixels = 1, max_pixels = Infinity } = rule;
  if (min_side > max_side) file.fault(at('min_side'), `min_side ${min_side} is above the max_side ${max_side}`);
  if (min_pixels > max_pixels) {
    file.fault(at('min_pixels'), `min_pixels ${min_pixels} is above the max_pixels ${max_pixels}`);
  }
  if (model.kind === 'video' && step % 2 === 1) file.fault(at('step'), `step ${step} allows an odd side`);
}

function checkRules(file: YamlFile, model: Declaration, names: ReadonlySet<string>): void {
  model.rules?.forEach(({ when, requires = [], excludes = [] }, at) => {
    const path = ['rules', at];
    for (const name of Object.keys(when)) {
      if (!names.has(name)) file.fault([...path, 'when', name], `${shown(name)} is not declared`, 'key');
    }
    for (const [field, list] of Object.entries({ requires, excludes })) {
      list.forEach((name, index) => {
        if (!names.has(name)) file.fault([...path, field, index], `${shown(name)} is not declared`);
      });
    }
    if (requires.length + excludes.length === 0) file.fault(path, 'a rule needs requires, excludes or both');
    for (const [name, value] of Object.entries(when)) {
      if (!isCondition(value))
        file.fault([...path, 'when', name], 'must be a value, a list of values, present or absent');
    }
  });
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
const isCondition = (value: unknown): boolean =>
  isScalar(value) || (Array.isArray(value) && value.length > 0 && value.every(isScalar));

function checkGuidance(file: YamlFile, model: Declaration): void {
  if (!model.guidance) return;
  if (model.kind === 'image') return file.fault(['guidance'], 'guidance is not for images', 'key');
  const modes = modesOf(model);
  for (const [mode, { nearest }] of Object.entries(model.guidance)) {
    if (!modes.includes(mode)) {
      file.fault(['guidance', mode], `${shown(mode)} is not allowed; allowed are ${modes.join(', ')}`, 'key');
    }
    if (nearest !== undefined && !/^[a-z_]{1,40}$/.test(nearest)) {
      file.fault(['guidance', mode, 'nearest'], `nearest ${shown(nearest)} is no reference_mode`);
    }
  }
}

/** The values of `reference_mode` for a model. A model without this parameter has only `omni`. */
export function modesOf(model: Declaration): readonly string[] {
  if (!model.parameters.reference_mode) return ['omni'];
  return (parameterSchemaOf(model, 'reference_mode').enum ?? []) as string[];
}

function checkDates(file: YamlFile, { created, lifecycle = {} }: Declaration): void {
  const { deprecated_at, sunset_at } = lifecycle;
  const dates: [(string | number)[], string | undefined][] = [
    [['created'], created],
    [['lifecycle', 'deprecated_at'], deprecated_at],
    [['lifecycle', 'sunset_at'], sunset_at],
  ];
  for (const [path, date] of dates) {
    if (date !== undefined && secondsOf(date) === null) file.fault(path, `${shown(date)} is no date`);
  }
  if (deprecated_at !== undefined && sunset_at !== undefined && sunset_at < deprecated_at) {
    file.fault(['lifecycle', 'sunset_at'], `sunset_at ${sunset_at} is before deprecated_at`);
  }
}

/** Unix seconds at the beginning of a day (UTC); null for a date that does not exist. */
export function secondsOf(date: string): number | null {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== date ? null : ms / 1000;
}
