import { TYPE_ID_SUFFIX } from '../../platform/schema/type-id.ts';
import { MAX_URL_LENGTH, type ParameterRule, type ParameterSchema, type Scalar } from './parameters.ts';

/** The schemas that parameters of several models have. */

/** Text that must not be blank. @param maxLength code points */
export const words = (maxLength: number, description: string): ParameterSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength,
  // U+0085 is Unicode white space that \s does not include. Written so that other regular expression engines agree.
  pattern: '[^\\s\\u0085]',
});

/** One of several values; case-sensitive. */
export const oneOf = (
  values: readonly Scalar[],
  { byDefault, description, type = 'string' }: OneOf,
): ParameterSchema => ({
  type,
  description,
  enum: values,
  ...(byDefault !== undefined && { default: byDefault }),
});

interface OneOf {
  byDefault?: Scalar | undefined;
  description: string;
  type?: ParameterSchema['type'];
}

/** A number, by default a whole one. */
export const numberFrom = (
  minimum: number,
  maximum: number,
  { byDefault, description, type }: OneOf,
): ParameterSchema => ({
  type: type ?? 'integer',
  description,
  minimum,
  maximum,
  ...(byDefault !== undefined && { default: byDefault }),
});

/** The file format of the images, which the service converts them to. */
export const imageFormat: Record<string, ParameterSchema> = {
  output_format: oneOf(['png', 'jpeg', 'webp'], {
    description: 'File format of the images. When left out, the file is as the provider made it.',
  }),
  output_compression: numberFrom(0, 100, {
    byDefault: 100,
    description: 'Quality of the encoder in percent; only with output_format "jpeg" or "webp".',
  }),
};

/** Below 100 it is refused beside another format. 100 changes nothing there, and generated clients send the default. */
export const imageFormatRule: ParameterRule = {
  if: { properties: { output_format: { enum: ['jpeg', 'webp'] } }, required: ['output_format'] },
  else: {
    properties: { output_compression: { const: 100, description: 'below 100 needs output_format "jpeg" or "webp"' } },
  },
};

/** An image: a URL that the service downloads, the id of a file, or the bytes themselves as a data: URL. */
export const imageUrl = (description: string): ParameterSchema => ({
  type: 'string',
  description,
  format: 'image',
  // No end after data:, whose bytes are checked when they are decoded: an expression may not cross 30 MB.
  pattern: `^(?:[Hh][Tt][Tt][Pp][Ss]?://\\S+$|file_${TYPE_ID_SUFFIX}(?:_[0-9]{1,3})?$|[Dd][Aa][Tt][Aa]:)`,
});

/** @param max how many images the model accepts */
export const imageUrls = (max: number, description: string): ParameterSchema => ({
  type: 'array',
  description,
  maxItems: max,
  items: imageUrl(
    `http(s) URL of at most ${MAX_URL_LENGTH} characters, id of a file (\`file_…\`), or data:image/…;base64 URL of a still JPEG, PNG or WebP image.`,
  ),
});
