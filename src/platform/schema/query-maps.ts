import { getMetadataStorage } from 'class-validator';
import { ApiError } from '../../errors/api-error.ts';

const MAP_ENTRY = /^(\w+)\[(.+)\]$/s;

/**
 * Gathers the entries of maps in a query string: `metadata[a]=b` becomes `metadata: { a: 'b' }` (OpenAPI's style
 * deepObject), for the properties of the query class that must be objects. Also refuses text that PostgreSQL cannot store.
 * @throws ApiError invalid_unicode; invalid_type for an entry given twice; unknown_parameter for a map given as one text
 */
export function gatherMaps(queryClass: new () => object, query: Record<string, unknown>): Record<string, unknown> {
  const maps = mapsOf(queryClass);
  const gathered: Record<string, unknown> = {};
  for (const [param, value] of Object.entries(query)) {
    const [, map = '', key = ''] = MAP_ENTRY.exec(param) ?? [];
    refuseBadText(param, value);
    if (maps.has(map)) {
      if (typeof value !== 'string') throw new ApiError('invalid_type', { param, message: `${param} is given twice.` });
      refuseBadText(param, key);
      put((gathered[map] ??= {}) as object, key, value);
    } else if (maps.has(param)) {
      throw new ApiError('unknown_parameter', { param, message: `Write ${param}[key]=value.` });
    } else put(gathered, param, value);
  }
  return gathered;
}

function mapsOf(queryClass: new () => object): Set<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(queryClass, '', false, false);
  return new Set(rules.filter(({ name }) => name === 'isObject').map(({ propertyName }) => propertyName));
}

function refuseBadText(param: string, text: unknown): void {
  if (typeof text === 'string' && (text.includes('\0') || !text.isWellFormed())) {
    throw new ApiError('invalid_unicode', { param });
  }
}

/** By definition, not assignment: the key may be `__proto__`. */
function put(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}
