import { type Json, mapObjects, nameIn } from './component.ts';

/** Requests refuse fields that they do not know, so their schemas say so. Answers stay open: fields may be added. */
export function closeInputs(document: Json): void {
  const { schemas } = document.components;
  const pending = operationsOf(document).flatMap(({ requestBody }) => componentsIn(requestBody));
  const seen = new Set<string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const schema = schemas[name] as Json;
    if (schema.type === 'object') schema.additionalProperties ??= false;
    for (const property of Object.values<Json>(schema.properties ?? {})) removeStyle(property);
    pending.push(...componentsIn(schema));
  }
}

/** How a query string writes a parameter. The same class may also be part of a body. */
function removeStyle(property: Json): void {
  delete property.style;
  delete property.explode;
}

function componentsIn(node: unknown): string[] {
  const found: string[] = [];
  mapObjects(node, (object) => {
    if (typeof object.$ref === 'string') found.push(nameIn(object.$ref));
    return object;
  });
  return found;
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

export const operationsOf = ({ paths }: Json): Json[] =>
  Object.values<Json>(paths).flatMap((path) => METHODS.flatMap((method) => path[method] ?? []));
