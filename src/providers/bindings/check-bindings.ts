import type { Declaration } from '../../models/declaration/declaration.ts';
import { shown } from '../../models/declaration/fault.ts';
import { parameterNamesOf, parameterSchemaOf } from '../../models/declaration/parameters-of.ts';
import type { YamlFile } from '../../models/declaration/yaml-file.ts';
import type { BindingAt } from './binding-at.ts';
import { checkPrices } from './declared-prices.ts';
import { checkTemplates } from './check-templates.ts';
import { checkFields } from './check-fields.ts';
import { takenBy } from './takes.ts';

/** Checks the prices and bindings of a declaration, and adds every fault to the file. */
export function checkBindings(file: YamlFile, model: Declaration, workflows: ReadonlyMap<string, unknown>): void {
  const names = new Set(parameterNamesOf(model));
  checkPrices(file, model);
  model.bindings.forEach((binding, at) => {
    const where = { file, model, binding, at, names, workflows };
    const before = file.faults.length;
    checkFields(where);
    checkConditions(where);
    const used = checkTemplates(where);
    if (file.faults.length === before) checkUse(where, used);
  });
}

/**
 * Checks that `when`, `map` and `approximate` name declared parameters. In `when` and `map`, also checks that a
 * parameter with an enum has the named values.
 */
function checkConditions({ file, model, binding, at, names }: BindingAt): void {
  const path = ['bindings', at];
  const undeclared = (field: string, step: string | number, name: string): boolean => {
    if (names.has(name)) return false;
    file.fault([...path, field, step], `${shown(name)} is not declared`, 'key');
    return true;
  };
  for (const [name, condition] of Object.entries(binding.when ?? {})) {
    if (undeclared('when', name, name) || condition === 'present' || condition === 'absent') continue;
    const here = [...path, 'when', name];
    if (!Array.isArray(condition) || condition.length === 0) {
      file.fault(here, `${name} must be present, absent or a list of values, not ${shown(condition)}`);
      continue;
    }
    const { enum: values } = parameterSchemaOf(model, name);
    condition.forEach((value, index) => {
      if (values && !values.includes(value)) {
        file.fault([...here, index], `${shown(value)} is not one of ${values.join(', ')}`);
      }
    });
  }
  for (const [name, values] of Object.entries(binding.map ?? {})) {
    if (undeclared('map', name, name)) continue;
    const { enum: known } = parameterSchemaOf(model, name);
    for (const value of Object.keys(values)) {
      if (known && !known.map(String).includes(value)) {
        file.fault([...path, 'map', name, value], `${shown(value)} is not one of ${known.join(', ')}`, 'key');
      }
    }
  }
  binding.approximate?.forEach((name, index) => undeclared('approximate', index, name));
}

/**
 * Adds a fault for every parameter that a client may set but the binding would drop. A binding must send a parameter,
 * name it in `approximate`, or set `absent` for it in `when`.
 */
function checkUse({ file, model, binding, at, names }: BindingAt, used: ReadonlySet<string>): void {
  const { provider, when = {}, approximate = [] } = binding;
  if (provider === 'sandbox') return;
  const sent = binding.workflow === undefined ? (takenBy(binding, model.kind) ?? []) : [];
  for (const name of names) {
    if (sent.includes(name) || used.has(name) || approximate.includes(name) || when[name] === 'absent') continue;
    if (hasOneValue(model, name)) continue;
    if (name === 'n' && (provider === 'http' || binding.send)) continue; // without n, several calls are made
    const by = [provider, binding.dialect].filter((each) => each !== undefined).join(', ');
    file.fault(
      ['bindings', at],
      `${name} is not used by bindings[${at}] (${by}); put {{${name}}} into ${provider === 'http' ? 'submit' : 'send'}, or name it in approximate, or set when.${name} to absent`,
    );
  }
}

function hasOneValue(model: Declaration, name: string): boolean {
  const { enum: values, minimum, maximum } = parameterSchemaOf(model, name);
  return values?.length === 1 || (minimum !== undefined && minimum === maximum);
}
