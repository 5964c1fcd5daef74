import { imageFormat, imageUrl, imageUrls, numberFrom, oneOf, words } from '../definition/fields.ts';
import type { MediaKind } from '../definition/media-kind.ts';
import type { ParameterSchema, Scalar } from '../definition/parameters.ts';
import { sizeInWords } from '../definition/pixel-rule.ts';
import type { Declaration, DeclaredParameter } from './declaration.ts';
import { pixelRuleOf } from './sizes-of.ts';

/** The fields of a parameter in a declaration, without `description` and `type`. */
type Bound = Exclude<keyof DeclaredParameter, 'description' | 'type'>;

/** A shared parameter. Its name, type and meaning are the same for all models; a declaration may narrow its values. */
interface Word {
  kind: MediaKind | 'both';
  sets: readonly Bound[];
  /** The values that `enum` may name. */
  values?: readonly string[];
  /** The lowest and the highest bound that a declaration may set. */
  range?: readonly [number, number];
  /** Whether the declaration must set a default. */
  needsDefault?: true;
  /** Parameters that a request with this one must have too. */
  needs?: readonly string[];
  schema: (given: DeclaredParameter, model: Declaration) => ParameterSchema;
}

const QUALITIES = ['auto', 'low', 'medium', 'high', 'xhigh', 'max'];
const BACKGROUNDS = ['auto', 'opaque', 'transparent'];
const MODES = ['omni', 'first_frame', 'first_last', 'multi_frame'];
/** The largest seed that a declaration may permit. */
export const MAX_SEED = 4_294_967_295;
const DEFAULT_MAX_SEED = 2_147_483_647;
const STILL = 'still JPEG, PNG or WebP image';
const PIXELS = '^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$';

const image = (kind: MediaKind, description: string, needs?: readonly string[]): Word => ({
  kind,
  sets: [],
  ...(needs && { needs }),
  schema: (given) => imageUrl(given.description ?? description),
});

/** The shared parameters, in published order. */
export const VOCABULARY: Readonly<Record<string, Word>> = {
  prompt: {
    kind: 'both',
    sets: ['maxLength'],
    schema: ({ maxLength = 4000, description = 'What to make, in words. It must not be blank.' }) =>
      words(maxLength, description),
  },
  negative_prompt: {
    kind: 'both',
    sets: ['maxLength', 'default'],
    schema: ({ maxLength = 2000, description = 'What the result must not show, in words.', default: byDefault }) => ({
      type: 'string',
      description,
      maxLength,
      ...(byDefault !== undefined && { default: byDefault }),
    }),
  },
  reference_images: {
    kind: 'image',
    sets: ['maxItems'],
    schema: ({ maxItems = 1, description }) =>
      imageUrls(
        maxItems,
        description ?? `Images to follow or to edit: up to ${maxItems} still JPEG, PNG or WebP files.`,
      ),
  },
  mask: image(
    'image',
    'Which part of the first of reference_images to change: where it is transparent, or white if it has no transparency.',
    ['reference_images'],
  ),
  strength: {
    kind: 'image',
    sets: ['minimum', 'maximum', 'default'],
    range: [0, 1],
    needs: ['reference_images'],
    schema: ({ minimum = 0, maximum = 1, default: byDefault, description }) =>
      numberFrom(minimum, maximum, {
        byDefault,
        description: description ?? 'How far to go from the first of reference_images: 0 keeps it, 1 ignores it.',
        type: 'number',
      }),
  },
  first_frame_image_url: image('video', `http(s) URL of a ${STILL} for the video to start from.`),
  last_frame_image_url: image('video', `http(s) URL of a ${STILL} for the video to end with.`, [
    'first_frame_image_url',
  ]),
  reference_image_url: image('video', `http(s) URL of a ${STILL} to follow.`),
  reference_mode: {
    kind: 'video',
    sets: ['enum', 'default'],
    values: MODES,
    schema: (given) => choice(given, MODES, 'How the image guides the video.', firstOf(given.enum ?? MODES, 'omni')),
  },
  size: {
    kind: 'both',
    sets: ['default'],
    schema: ({ default: byDefault, description }, model) => {
      const rule = pixelRuleOf(model);
      return {
        type: 'string',
        description: description ?? `The pixels: ${rule ? sizeInWords(rule) : 'WIDTHxHEIGHT'}.`,
        pattern: PIXELS,
        ...(byDefault !== undefined && { default: byDefault }),
      };
    },
  },
  aspect_ratio: {
    kind: 'both',
    sets: ['default'],
    schema: ({ default: byDefault, description }, { sizes: { table } }) => {
      const ratios = [...(table?.auto ? ['auto'] : []), ...Object.keys(table?.rows ?? {})];
      const leaves = table?.auto ? ' "auto" leaves the choice to the model.' : '';
      return oneOf(ratios, {
        byDefault: byDefault ?? ratios[0],
        description: description ?? `Width to height.${leaves}`,
      });
    },
  },
  resolution: {
    kind: 'both',
    sets: ['default'],
    schema: ({ default: byDefault, description }, { kind, sizes: { table } }) =>
      oneOf(table?.columns ?? [], {
        byDefault: byDefault ?? table?.columns[0],
        description: description ?? `Size class of the ${kind}.`,
      }),
  },
  n: {
    kind: 'image',
    sets: ['maximum'],
    range: [1, 10],
    schema: ({ maximum = 1, description }) =>
      numberFrom(1, maximum, { byDefault: 1, description: description ?? 'How many images to make.' }),
  },
  quality: {
    kind: 'image',
    sets: ['enum', 'default'],
    values: QUALITIES,
    schema: (given) => {
      const leaves = (given.enum ?? QUALITIES).includes('auto') ? ' "auto" leaves the choice to the model.' : '';
      const description = `How much work the model puts into an image.${leaves}`;
      return choice(given, QUALITIES, description, firstOf(given.enum ?? QUALITIES, 'auto'));
    },
  },
  background: {
    kind: 'image',
    sets: ['enum', 'default'],
    values: BACKGROUNDS,
    schema: (given) => choice(given, BACKGROUNDS, 'Whether what is behind the subject is transparent.'),
  },
  seed: {
    kind: 'both',
    sets: ['maximum'],
    range: [0, MAX_SEED],
    schema: ({ maximum = DEFAULT_MAX_SEED, description }) =>
      numberFrom(0, maximum, {
        description:
          description ?? 'The same seed with the same parameters gives a similar result; random when left out.',
      }),
  },
  duration: {
    kind: 'video',
    sets: ['minimum', 'maximum', 'enum', 'default'],
    range: [1, 60],
    needsDefault: true,
    schema: ({ minimum = 1, maximum = 60, enum: values, default: byDefault, description }) => {
      const about = { byDefault, description: description ?? 'Length of the video in seconds.' };
      return values ? oneOf(values, { ...about, type: 'integer' }) : numberFrom(minimum, maximum, about);
    },
  },
  generate_audio: {
    kind: 'video',
    sets: ['default'],
    schema: ({ default: byDefault, description }) => ({
      type: 'boolean',
      description: description ?? 'Whether the video has sound.',
      ...(byDefault !== undefined && { default: byDefault }),
    }),
  },
};

/** The widest bounds that a declaration may set; `maxItems` counts reference images. */
export const WIDEST = { maxLength: 32_000, maxItems: 50 };

/**
 * The shared parameters with the widest bounds that a declaration may set. The values of sizes and all defaults are
 * left out, because they depend on the model.
 */
export function widestSchemas(kind = 'image or video'): Record<string, ParameterSchema> {
  const anyModel = { kind, sizes: {} } as Declaration;
  return Object.fromEntries(
    Object.entries(VOCABULARY).map(([name, { schema, range }]) => {
      const given = { ...WIDEST, ...(range && { minimum: range[0], maximum: range[1] }) };
      const { enum: values = [], default: _, ...rest } = schema(given, anyModel);
      return [name, { ...rest, ...(values.length > 0 && { enum: values }) }];
    }),
  );
}

/** Names reserved for shared parameters that no provider serves yet. */
export const LATER = new Set(['reference_videos', 'reference_audios', 'source_video', 'source_mode', 'fps']);

/** Whether the name belongs to a shared parameter, to one reserved for later, or to a parameter of the image format. */
export const isWord = (name: string): boolean =>
  Object.hasOwn(VOCABULARY, name) || LATER.has(name) || Object.hasOwn(imageFormat, name);

function choice(
  { enum: values, description, default: given }: DeclaredParameter,
  all: readonly Scalar[],
  usual: string,
  byDefault?: Scalar,
): ParameterSchema {
  return oneOf(values ?? all, { byDefault: given ?? byDefault, description: description ?? usual });
}

const firstOf = (values: readonly Scalar[], usual: Scalar): Scalar | undefined =>
  values.includes(usual) ? usual : values[0];

/** Whether the parameter is a model's own, and not a shared one. */
export const isOwn = (name: string): boolean => name.startsWith('x_');

export const OWN_NAME = '^x_[a-z0-9_]{1,40}$';

/** @param given has the fields that a model's own parameter needs */
export function ownSchema(given: DeclaredParameter): ParameterSchema {
  const { type = 'string', description = '', enum: values, minimum, maximum, maxLength, default: byDefault } = given;
  return {
    type,
    description,
    ...(values && { enum: values }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(maxLength !== undefined && { maxLength }),
    ...(byDefault !== undefined && { default: byDefault }),
  };
}
