/** The JSON Schema (2020-12) of one parameter. */
export interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'array' | 'object';
  readonly description: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly default?: string | number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  /** Code points, as JSON Schema defines. */
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: 'uri';
  readonly maxItems?: number;
  readonly items?: ParameterSchema;
  readonly maxProperties?: number;
  readonly propertyNames?: ParameterSchema;
  readonly additionalProperties?: ParameterSchema;
}

/** A rule between parameters: when one has a certain value, others are required or excluded. */
export interface ParameterRule {
  readonly if: {
    readonly properties: Readonly<Record<string, { const: string }>>;
    readonly required: readonly string[];
  };
  readonly then: object;
}

/** The JSON Schema (2020-12) of a creation request. */
export interface ParametersSchema extends Partial<ParameterRule> {
  readonly $schema: 'https://json-schema.org/draft/2020-12/schema';
  readonly title: string;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ParameterSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Characters. */
const MAX_URL_LENGTH = 2048;

/** The schema of one model's requests. Adds `model` and `metadata`, which all models share. */
export function parametersOf(
  id: string,
  parameters: Record<string, ParameterSchema>,
  rule?: ParameterRule,
): ParametersSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: id,
    type: 'object',
    properties: {
      model: { type: 'string', const: id, description: 'The model that makes the content.' },
      ...parameters,
      metadata,
    },
    required: ['model', 'prompt'],
    additionalProperties: false,
    ...rule,
  };
}

const metadata: ParameterSchema = {
  type: 'object',
  description: 'Up to 16 key-value pairs of text, stored with the task and returned unchanged.',
  maxProperties: 16,
  propertyNames: { type: 'string', description: 'A key.', minLength: 1, maxLength: 64 },
  additionalProperties: { type: 'string', description: 'A value.', maxLength: 512 },
};

/** When `name` has `value`, `needs` is required and `excludes` is not allowed. */
export function when(
  name: string,
  value: string,
  { needs, excludes }: { needs: string; excludes: string },
): ParameterRule {
  const notAllowed = { not: {}, description: `cannot be combined with ${name} "${value}"` };
  return {
    if: { properties: { [name]: { const: value } }, required: [name] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: { [needs]: true, [excludes]: notAllowed }, required: [needs] },
  };
}

/** @param maxLength code points */
export const prompt = (maxLength: number): ParameterSchema => ({
  type: 'string',
  description: 'What to make, in words. It must not be blank.',
  minLength: 1,
  maxLength,
  // U+0085 is Unicode white space that \s does not include. Written so that other regular expression engines agree.
  pattern: '[^\\s\\u0085]',
});

/** One of several texts; case-sensitive. */
export const oneOf = (
  values: readonly string[],
  { byDefault, description }: { byDefault: string; description: string },
): ParameterSchema => ({ type: 'string', description, enum: values, default: byDefault });

/** The number of results of one task. */
export const count = ({ max }: { max: number }): ParameterSchema => ({
  type: 'integer',
  description: 'How many images to make.',
  minimum: 1,
  maximum: max,
  default: 1,
});

/** The length of a video in whole seconds. */
export const seconds = ({ min, max, byDefault }: { min: number; max: number; byDefault: number }): ParameterSchema => ({
  type: 'integer',
  description: 'Length of the video in seconds.',
  minimum: min,
  maximum: max,
  default: byDefault,
});

/** The URL of an image, which the service downloads. */
export const imageUrl = (description: string): ParameterSchema => ({
  type: 'string',
  description,
  format: 'uri',
  maxLength: MAX_URL_LENGTH,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$',
});

/** @param max how many images the model accepts */
export const imageUrls = (max: number): ParameterSchema => ({
  type: 'array',
  description: `Images to follow or to edit: up to ${max} http(s) URLs of JPEG, PNG or WebP files.`,
  maxItems: max,
  items: imageUrl('http(s) URL of a still JPEG, PNG or WebP image.'),
});
