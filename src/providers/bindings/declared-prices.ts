import type { Declaration } from '../../models/declaration/declaration.ts';
import { hint, shown } from '../../models/declaration/fault.ts';
import { parameterSchemaOf } from '../../models/declaration/parameters-of.ts';
import type { YamlFile } from '../../models/declaration/yaml-file.ts';
import type { Model } from '../../models/definition/model.ts';
import { AMOUNTS, MATCHED, type Price } from './price.ts';
import { amountFault, microsOf } from './price-amount.ts';

const RULES = ['none', 'full'] as const;
/** A row of prices belongs to the model that declares it, so it has no field `model`. */
const FITS = MATCHED.filter((name) => name !== 'model');
const FIELDS: readonly string[] = [...FITS, ...AMOUNTS, 'on_failure', 'on_cancel'];

type Row = Readonly<Record<string, unknown>>;

/** Checks the prices of a declaration, and adds every fault to the file. */
export function checkPrices(file: YamlFile, model: Declaration): void {
  model.prices?.forEach((row, at) => {
    const path = (field: string) => ['prices', at, field];
    for (const [name, value] of Object.entries(row)) {
      if (!FIELDS.includes(name)) file.fault(path(name), `unknown field ${shown(name)}${hint(name, FIELDS)}`, 'key');
      else if ((AMOUNTS as readonly string[]).includes(name)) {
        if (microsOf(file.sourceOf(path(name)) ?? '') === null) file.fault(path(name), amountFault(name, shown(value)));
      } else {
        const known = valuesOf(model, name);
        if (known === null ? typeof value !== 'string' || value === '' : !known.includes(value as string)) {
          const allowed = known === null ? 'a string' : `one of ${known.join(', ')}`;
          file.fault(path(name), `${name} must be ${allowed}, not ${shown(value)}`);
        }
      }
    }
    if (!AMOUNTS.some((name) => name in row)) {
      file.fault(['prices', at], `a price needs at least one of ${AMOUNTS.join(', ')}`);
    }
  });
}

/** @returns the allowed values; null if any text is allowed; empty if the model has no such parameter or enum */
function valuesOf(model: Declaration, name: string): readonly string[] | null {
  if (name === 'provider') return model.bindings.map(({ provider }) => provider);
  if (name === 'on_failure' || name === 'on_cancel') return RULES;
  if (name === 'upstream_model') return null;
  const isTaken = name === 'resolution' ? model.sizes.table : model.parameters[name];
  return isTaken ? (parameterSchemaOf(model, name).enum ?? []).map(String) : [];
}

/** The prices of a model. Its declaration must have passed `checkPrices`. */
export const declaredPrices = (model: Pick<Model, 'prices'>): Price[] => model.prices.map(priceOf);

function priceOf(row: Row): Price {
  const text = (name: string) => row[name] as string | undefined;
  return {
    fits: Object.fromEntries(FITS.flatMap((name) => (row[name] === undefined ? [] : [[name, text(name)!]]))),
    amounts: Object.fromEntries(
      AMOUNTS.flatMap((name) => (row[name] === undefined ? [] : [[name, microsOf(String(row[name]))!]])),
    ),
    onFailure: (text('on_failure') ?? 'none') as Price['onFailure'],
    onCancel: (text('on_cancel') ?? 'full') as Price['onCancel'],
  };
}
