/** Under this key an inline schema has the name of the component that it becomes. */
export const COMPONENT = 'x-component';

/** A part of the OpenAPI document, without a more exact type. */
export interface Json {
  [key: string]: any;
}

export const refTo = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** Replaces every object in a tree, inner objects first. */
export function mapObjects(node: unknown, replace: (object: Json) => Json): any {
  if (Array.isArray(node)) return node.map((item) => mapObjects(item, replace));
  if (typeof node !== 'object' || node === null) return node;
  return replace(Object.fromEntries(Object.entries(node).map(([key, value]) => [key, mapObjects(value, replace)])));
}
