import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';

/** The names that tests use, with the names of the schemas in OpenAI's published file. */
export const PUBLISHED = {
  generationRequest: 'CreateImageRequest',
  editRequest: 'CreateImageEditRequest',
  answer: 'ImagesResponse',
  failure: 'ErrorResponse',
  createRequest: 'CreateVideoMultipartBody',
  video: 'VideoResource',
  deleted: 'DeletedVideoResource',
} as const;

type Validators = Record<keyof typeof PUBLISHED, ValidateFunction>;
type Schema = Record<string, unknown>;

/** The schemas of this repository, which need no downloaded file. */
export function ownSchemas(): Validators {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  for (const file of ['images.json', 'videos.json']) ajv.addSchema(read(new URL(file, import.meta.url)));
  return validators(
    (name) => ajv.getSchema(`openai-images#/$defs/${name}`) ?? ajv.getSchema(`openai-videos#/$defs/${name}`),
  );
}

/**
 * The schemas of OpenAI's openapi.json with its errors corrected: `nullable`, which that version of OpenAPI does not
 * have, and the sizes of the response, which are those of an older model.
 */
export function publishedSchemas(path: string): Validators {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
  const { components } = read(path) as { components: { schemas: Record<string, { properties?: Schema }> } };
  const sizes = components.schemas.ImagesResponse?.properties;
  if (sizes) sizes.size = { type: 'string' };
  ajv.addSchema({ $id: 'published', components: withoutNullable(components) as Schema });
  return validators((name) => ajv.getSchema(`published#/components/schemas/${PUBLISHED[name]}`));
}

function validators(find: (name: keyof typeof PUBLISHED) => ValidateFunction | undefined): Validators {
  const names = Object.keys(PUBLISHED) as (keyof typeof PUBLISHED)[];
  return Object.fromEntries(
    names.map((name) => {
      const validate = find(name);
      if (!validate) throw new Error(`There is no schema for ${name}.`);
      return [name, validate];
    }),
  ) as Validators;
}

function withoutNullable(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNullable);
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([name, value]) => !(name === 'nullable' && typeof value === 'boolean'));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutNullable(value)]));
}

const read = (path: string | URL): Schema => JSON.parse(readFileSync(path, 'utf8')) as Schema;
