import { TYPE_ID_SUFFIX } from '../../platform/schema/type-id.ts';
import { MAX_URL_LENGTH, type ParameterRule, type ParameterSchema, type Scalar } from './parameters.ts';

/** Schemas that parameters of several models share. */

/** Text that must not be blank. @param maxLength in code points */
export const words = (maxLength: number, description: string): ParameterSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength,
  // One character that is not white space. \s in JavaScript lacks U+0085, which other engines include, so U+0085 is
  // added.
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

/** The parameters that choose the file format of images. The service converts the images itself. */
export const imageFormat: Record<string, ParameterSchema> = {
  output_format: oneOf(['png', 'jpeg', 'webp'], {
    description: 'File format of the images. When left out, the file is as the provider made it.',
  }),
  output_compression: numberFrom(0, 100, {
    byDefault: 100,
    description: 'Quality of the encoder in percent; only with output_format "jpeg" or "webp".',
  }),
};

/**
 * `output_compression` below 100 needs jpeg or webp. 100 is allowed with any format, because generated clients send the
 * default.
 */
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
  // The pattern ends after `data:`, because up to 30 MB may follow. Decoding checks the bytes.
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
