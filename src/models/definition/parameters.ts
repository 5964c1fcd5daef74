import { TYPE_ID_SUFFIX } from '../../platform/schema/type-id.ts';

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
  /** `image` marks the fields that name an image. */
  readonly format?: 'image';
  readonly maxItems?: number;
  readonly items?: ParameterSchema;
  readonly maxProperties?: number;
  readonly propertyNames?: ParameterSchema;
  readonly additionalProperties?: ParameterSchema;
}

/** A rule between parameters: when one has a certain value, others are required or excluded; otherwise others are. */
export interface ParameterRule {
  readonly if: {
    readonly properties: Readonly<Record<string, { const?: string; enum?: readonly string[] }>>;
    readonly required: readonly string[];
  };
  readonly then?: object;
  readonly else?: { readonly properties: Readonly<Record<string, object>> };
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

/** Characters of an http(s) URL. */
export const MAX_URL_LENGTH = 2048;

/** The schema of one model's requests. Adds the fields that all models share. */
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
      ...SHARED,
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

const SHARED: Record<string, ParameterSchema> = {
  metadata,
  priority: {
    type: 'string',
    enum: ['normal', 'low'],
    default: 'normal',
    description: 'A low task waits behind all normal ones, and has a day to start in.',
  },
  parent_task_id: { type: 'string', description: 'The task of yours that this one is made from.' },
};

/** Whether the field is a parameter of the model itself: what a provider gets and the task shows as `input`. */
export const isModelParameter = (name: string): boolean => name !== 'model' && !Object.hasOwn(SHARED, name);

type Default = [name: string, byDefault: string | number | undefined];

/** Kept, because every creation asks for them. */
const modelParameters = new WeakMap<ParametersSchema, readonly Default[]>();

/** The parameters of the model itself, in catalogue order, with their defaults. */
export function modelParametersOf(schema: ParametersSchema): readonly Default[] {
  const known = modelParameters.get(schema);
  if (known) return known;
  const own = Object.entries(schema.properties).filter(([name]) => isModelParameter(name));
  const parameters = own.map(([name, parameter]): Default => [name, parameter.default]);
  modelParameters.set(schema, parameters);
  return parameters;
}

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
    then: { properties: { [needs]: {}, [excludes]: notAllowed }, required: [needs] },
  };
}

/** `name` makes sense only when `other` has one of these values, and is refused otherwise. */
export function onlyWith(name: string, other: string, values: readonly string[]): ParameterRule {
  const excluded = { not: {}, description: `needs ${other} ${values.map((value) => `"${value}"`).join(' or ')}` };
  return {
    if: { properties: { [other]: { enum: values } }, required: [other] },
    else: { properties: { [name]: excluded } },
  };
}

/** Whether the model's rule allows the parameter beside these values. Its default applies only then. */
export function isAllowed(name: string, schema: ParametersSchema, values: Readonly<Record<string, unknown>>): boolean {
  if (!schema.if || !Object.hasOwn(schema.else?.properties ?? {}, name)) return true;
  return Object.entries(schema.if.properties).every(([other, { enum: allowed }]) =>
    allowed?.includes(String(values[other])),
  );
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
  { byDefault, description }: { byDefault?: string; description: string },
): ParameterSchema => ({
  type: 'string',
  description,
  enum: values,
  ...(byDefault !== undefined && { default: byDefault }),
});

/** The number of results of one task. */
export const count = ({ max }: { max: number }): ParameterSchema => ({
  type: 'integer',
  description: 'How many images to make.',
  minimum: 1,
  maximum: max,
  default: 1,
});

/** The file format of the images, which the service converts them to. */
export const imageFormat: Record<string, ParameterSchema> = {
  output_format: oneOf(['png', 'jpeg', 'webp'], {
    description: 'File format of the images. When left out, the file is as the provider made it.',
  }),
  output_compression: {
    type: 'integer',
    description: 'Quality of the encoder in percent; only with output_format "jpeg" or "webp".',
    minimum: 0,
    maximum: 100,
    default: 100,
  },
};

export const imageFormatRule: ParameterRule = onlyWith('output_compression', 'output_format', ['jpeg', 'webp']);

/** The length of a video in whole seconds. */
export const seconds = ({ min, max, byDefault }: { min: number; max: number; byDefault: number }): ParameterSchema => ({
  type: 'integer',
  description: 'Length of the video in seconds.',
  minimum: min,
  maximum: max,
  default: byDefault,
});

/** An image: a URL that the service downloads, the id of a file, or the bytes themselves as a data: URL. */
export const imageUrl = (description: string): ParameterSchema => ({
  type: 'string',
  description,
  format: 'image',
  // No end after data:, whose bytes are checked when they are decoded: an expression may not cross 30 MB.
  pattern: `^(?:[Hh][Tt][Tt][Pp][Ss]?://\\S+$|file_${TYPE_ID_SUFFIX}(?:_[0-9]{1,3})?$|[Dd][Aa][Tt][Aa]:)`,
});

/** @param max how many images the model accepts */
export const imageUrls = (max: number): ParameterSchema => ({
  type: 'array',
  description: `Images to follow or to edit: up to ${max} still JPEG, PNG or WebP files.`,
  maxItems: max,
  items: imageUrl(
    `http(s) URL of at most ${MAX_URL_LENGTH} characters, id of a file (\`file_…\`), or data:image/…;base64 URL of a still JPEG, PNG or WebP image.`,
  ),
});
