import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import { takenBesides } from '../openai/dialects.ts';

const TABLE = ['aspect_ratio', 'resolution'];
const SIZES = ['size', ...TABLE];
const PICTURE = ['prompt', ...SIZES, 'n', 'reference_images'];
const FILM = ['prompt', ...SIZES, 'duration', 'reference_mode', 'first_frame_image_url', 'reference_image_url'];
const SEEDANCE = [
  'prompt',
  ...TABLE,
  'duration',
  'reference_mode',
  'first_frame_image_url',
  'reference_image_url',
  'last_frame_image_url',
  'seed',
  'generate_audio',
];

type Takes = Partial<Record<MediaKind, readonly string[]>>;

/** Upstream models that take the parameter `quality` through the `openai` provider. */
const GPT_IMAGE = /(^|\/)(gpt-image-|chatgpt-image)/;

/** The parameters that the adapters of fal and Replicate translate themselves, by family of the upstream model. */
const FAMILIES: readonly [RegExp, Readonly<Record<'fal' | 'replicate', Takes>>][] = [
  [/(^|\/)seedance/, { fal: { video: SEEDANCE }, replicate: { video: SEEDANCE } }],
  [
    /(^|\/)gpt-image/,
    {
      fal: { image: [...PICTURE, 'quality', 'mask', 'background'] },
      replicate: { image: ['prompt', ...TABLE, 'n', 'reference_images', 'quality', 'background'] },
    },
  ],
  [
    /(^|\/)nano-banana/,
    {
      fal: { image: ['prompt', ...TABLE, 'n', 'reference_images'] },
      replicate: { image: ['prompt', ...TABLE, 'n', 'reference_images'] },
    },
  ],
];

/**
 * The parameters that an adapter translates and sends itself. Empty if the binding writes out the whole input.
 * @returns null when the adapter cannot make this kind, or has no translation for the upstream model
 */
export function takenBy({ provider, dialect = 'openai', model = '', send }: DeclaredBinding, kind: MediaKind) {
  switch (provider) {
    case 'openai': {
      const besides = takenBesides(dialect, kind);
      if (!besides) return null;
      return [...(kind === 'image' ? PICTURE : FILM), ...besides, ...(GPT_IMAGE.test(model) ? ['quality'] : [])];
    }
    case 'gemini':
      return kind === 'image' ? ['prompt', ...TABLE, 'n', 'reference_images'] : null;
    case 'ark':
      return kind === 'video' ? SEEDANCE : null;
    case 'fal':
    case 'replicate': {
      if (send) return []; // `send` is the whole input
      const [, takes] = FAMILIES.find(([family]) => family.test(model)) ?? [];
      return takes?.[provider][kind] ?? null;
    }
    case 'comfyui':
      return [
        ...TABLE,
        ...PICTURE.filter((name) => name !== 'size'),
        ...FILM.filter((name) => name !== 'size'),
        'seed',
      ];
    default:
      return [];
  }
}

/** Whether the adapters of fal and Replicate have a translation for the upstream model. */
export const isKnownFamily = (model: string): boolean => FAMILIES.some(([family]) => family.test(model));
