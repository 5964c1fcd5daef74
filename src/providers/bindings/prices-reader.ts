import { isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml';
import { catalog } from '../../models/catalog.ts';
import { valuesOf } from '../../models/definition/parameters.ts';
import { PROVIDER_NAMES } from './binding.ts';
import { AMOUNTS, MATCHED, type Price } from './price.ts';
import { amountFault, microsOf } from './price-amount.ts';
import type { Fields, YamlFields } from './yaml-fields.ts';

const RULES = ['none', 'full'] as const;
const FIELDS = [...MATCHED, ...AMOUNTS, 'on_failure', 'on_cancel'];

/** Reads `currency` and `prices` of the PROVIDERS file. Adds every fault to `yaml`. */
export class PricesReader {
  constructor(private readonly yaml: YamlFields) {}

  /** @returns an ISO 4217 code; USD after a fault */
  currency(node: Node | null): string {
    if (isScalar(node) && typeof node.value === 'string' && /^[A-Z]{3}$/.test(node.value)) return node.value;
    const value = isScalar(node) ? `"${String(node.value)}"` : 'a list or map';
    this.yaml.fault(this.yaml.at(node), `currency must be three capital letters such as USD, not ${value}`);
    return 'USD';
  }

  prices(list: Node | null): Price[] {
    if (!isSeq(list)) {
      this.yaml.fault(this.yaml.at(list), 'prices must be a list');
      return [];
    }
    return list.items.flatMap((item) => {
      if (isMap(item)) return [this.price(item)];
      this.yaml.fault(this.yaml.at(item as Node), 'a price must be a map of fields');
      return [];
    });
  }

  private price(map: YAMLMap): Price {
    const { yaml } = this;
    const fields: Fields = new Map(yaml.fieldsOf(map, FIELDS));
    if (!AMOUNTS.some((name) => fields.has(name))) {
      yaml.fault(yaml.at(map), `a price needs at least one of ${AMOUNTS.join(', ')}`);
    }
    const known = (name: string, values: readonly string[]) => yaml.oneOf(fields, name, values);
    const model = known(
      'model',
      catalog.models.map(({ id }) => id),
    );
    const fits = {
      provider: known('provider', PROVIDER_NAMES),
      model,
      upstream_model: yaml.scalar(fields, 'upstream_model', 'string') as string | undefined,
      resolution: known('resolution', valuesIn('resolution', model)),
      quality: known('quality', valuesIn('quality', model)),
    };
    const amounts = AMOUNTS.flatMap((name) => (fields.has(name) ? [[name, this.amount(name, fields.get(name))]] : []));
    return {
      fits: Object.fromEntries(Object.entries(fits).filter(([, value]) => value !== undefined)),
      amounts: Object.fromEntries(amounts),
      onFailure: (known('on_failure', RULES) ?? 'none') as Price['onFailure'],
      onCancel: (known('on_cancel', RULES) ?? 'full') as Price['onCancel'],
    };
  }

  /**
   * Reads an amount from the text of the file, because a number of JavaScript is not exact. Returns 0 after a fault.
   */
  private amount(name: string, node: Node | null | undefined): bigint {
    const text = isScalar(node) ? textOf(node) : null;
    const micros = microsOf(text ?? '');
    if (micros !== null) return micros;
    this.yaml.fault(this.yaml.at(node ?? null), amountFault(name, text === null ? 'this' : `"${text}"`));
    return 0n;
  }
}

const textOf = (node: Scalar): string => (typeof node.value === 'string' ? node.value : (node.source ?? '')).trim();

/** The allowed values of a parameter: in one model, or in all models if `modelId` is undefined. */
function valuesIn(parameter: string, modelId: string | undefined): string[] {
  const models = catalog.models.filter(({ id }) => modelId === undefined || id === modelId);
  return [...new Set(models.flatMap(({ parameters }) => valuesOf(parameters, parameter)))];
}
