import { catalog } from '../../models/catalog.ts';
import { valuesOf } from '../../models/definition/parameters.ts';
import type { YamlFile } from '../../models/declaration/yaml-file.ts';
import { PROVIDER_NAMES } from './binding.ts';
import { AMOUNTS, MATCHED, type Price } from './price.ts';
import { amountFault, microsOf } from './price-amount.ts';
import { type Fields, isMap, YamlFields } from './yaml-fields.ts';

const RULES = ['none', 'full'] as const;
const FIELDS = [...MATCHED, ...AMOUNTS, 'on_failure', 'on_cancel'];

/** Reads `currency` and `prices` of the PROVIDERS file. Adds every fault to the file. */
export class PricesReader {
  constructor(private readonly file: YamlFile) {}

  /** @returns an ISO 4217 code; USD after a fault */
  currency(value: unknown): string {
    if (typeof value === 'string' && /^[A-Z]{3}$/.test(value)) return value;
    const given = typeof value === 'object' && value !== null ? 'a list or map' : `"${String(value)}"`;
    this.file.fault(['currency'], `currency must be three capital letters such as USD, not ${given}`);
    return 'USD';
  }

  prices(list: unknown): Price[] {
    if (!Array.isArray(list)) {
      this.file.fault(['prices'], 'prices must be a list');
      return [];
    }
    return list.flatMap((item, at) => {
      if (isMap(item)) return [this.price(item, at)];
      this.file.fault(['prices', at], 'a price must be a map of fields');
      return [];
    });
  }

  private price(row: Fields, at: number): Price {
    const fields = new YamlFields(this.file, ['prices', at], row);
    fields.refuseUnknown(FIELDS);
    if (!AMOUNTS.some((name) => fields.has(name))) {
      fields.fault(null, `a price needs at least one of ${AMOUNTS.join(', ')}`);
    }
    const model = fields.oneOf(
      'model',
      catalog.models.map(({ id }) => id),
    );
    const fits = {
      provider: fields.oneOf('provider', PROVIDER_NAMES),
      model,
      upstream_model: fields.scalar('upstream_model', 'string') as string | undefined,
      resolution: fields.oneOf('resolution', valuesIn('resolution', model)),
      quality: fields.oneOf('quality', valuesIn('quality', model)),
    };
    const amounts = AMOUNTS.flatMap((name) => (fields.has(name) ? [[name, amountOf(fields, name)]] : []));
    return {
      fits: Object.fromEntries(Object.entries(fits).filter(([, value]) => value !== undefined)),
      amounts: Object.fromEntries(amounts),
      onFailure: (fields.oneOf('on_failure', RULES) ?? 'none') as Price['onFailure'],
      onCancel: (fields.oneOf('on_cancel', RULES) ?? 'full') as Price['onCancel'],
    };
  }
}

/** @returns micro-units; 0 after a fault */
function amountOf(fields: YamlFields, name: string): bigint {
  const text = fields.sourceOf(name);
  const micros = microsOf(text ?? '');
  if (micros !== null) return micros;
  fields.fault(name, amountFault(name, text === null ? 'this' : `"${text}"`));
  return 0n;
}

/** The allowed values of a parameter: in one model, or in all models if `modelId` is undefined. */
function valuesIn(parameter: string, modelId: string | undefined): string[] {
  const models = catalog.models.filter(({ id }) => modelId === undefined || id === modelId);
  return [...new Set(models.flatMap(({ parameters }) => valuesOf(parameters, parameter)))];
}
