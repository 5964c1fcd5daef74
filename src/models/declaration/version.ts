import { createHash } from 'node:crypto';
import { canonicalJson } from '../../platform/schema/canonical-json.ts';
import type { DeclaredBinding } from '../definition/declared-binding.ts';
import type { ParameterSchema } from '../definition/parameters.ts';
import type { Declaration } from './declaration.ts';
import { parameterNamesOf, parameterSchemaOf } from './parameters-of.ts';
import { pixelRuleOf } from './sizes-of.ts';

/** The fields of a parameter that change what a request means. */
const MEANING = ['type', 'enum', 'minimum', 'maximum', 'maxLength', 'maxItems', 'default'] as const;

/**
 * The first 12 hex digits of a hash over what a declaration means. Addresses, credentials, prices and descriptions are
 * examples of what does not change the version.
 * @param workflows the parsed JSON of each workflow file that a binding names, by that name
 */
export function versionOf(model: Declaration, workflows: ReadonlyMap<string, unknown>): string {
  const meaning = {
    id: model.id,
    kind: model.kind,
    parameters: Object.fromEntries(
      parameterNamesOf(model).map((name) => [name, meaningOf(parameterSchemaOf(model, name))]),
    ),
    sizes: { table: model.sizes.table ? { auto: false, ...model.sizes.table } : null, pixels: pixelRuleOf(model) },
    rules: model.rules ?? [],
    guidance: model.guidance ?? {},
    choose: model.choose ?? 'in_order',
    bindings: model.bindings.map((binding) => bindingMeaning(binding, workflows)),
  };
  return createHash('sha256').update(canonicalJson(meaning)).digest('hex').slice(0, 12);
}

function meaningOf(schema: ParameterSchema): object {
  return Object.fromEntries(MEANING.flatMap((field) => (schema[field] === undefined ? [] : [[field, schema[field]]])));
}

function bindingMeaning(
  { base_url: _a, base_urls: _b, credential: _c, concurrency: _d, price_note: _e, ...binding }: DeclaredBinding,
  workflows: ReadonlyMap<string, unknown>,
): object {
  const { workflow, ...rest } = binding;
  return {
    duration_policy: 'exact',
    ...rest,
    ...(workflow !== undefined && { workflow: workflows.get(workflow) ?? null }),
  };
}
