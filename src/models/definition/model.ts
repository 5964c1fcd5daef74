import type { DeclaredBinding } from './declared-binding.ts';
import type { MediaKind } from './media-kind.ts';
import type { PixelRule } from './pixel-rule.ts';
import type { Config } from '../../platform/config/config.ts';
import type { ParametersSchema } from './parameters.ts';
import type { SizeTable } from './sizes.ts';

export const MODEL_STATUSES = ['active', 'deprecated', 'retired'] as const;

/**
 * A deprecated model still works. A request for a retired one is refused, and the error names the replacement, if there
 * is one.
 */
export interface Lifecycle {
  status: (typeof MODEL_STATUSES)[number];
  /** Unix seconds of the deprecation; null before that time, or if no deprecation is declared. */
  deprecated_at: number | null;
  /** Unix seconds of the retirement, planned or past; null when none is announced. */
  sunset_at: number | null;
  /** Id of the model to use instead; null when none is declared. */
  replacement: string | null;
}

/** Dates are unix seconds, planned or past; null when none is announced. */
export interface LifecycleDates {
  deprecatedAt: number | null;
  sunsetAt: number | null;
  /** Id of the model to use instead; null when none is declared. */
  replacement: string | null;
  /** Whether the file of the model is gone. The model is then retired, whatever its dates. */
  isRemoved: boolean;
}

/**
 * How an image guides a video: the video starts from the image, or follows it as a reference. `nearest` is the
 * reference_mode that comes closest to the requested one. It is absent if `as` expresses the requested mode exactly.
 */
export interface ImageGuidance {
  as: 'first_frame' | 'reference';
  nearest?: string;
}

/** A model that requests can name. Its bindings, or the configuration, say which providers serve it. */
export interface Model {
  id: string;
  kind: MediaKind;
  owned_by: string;
  /** Unix seconds at which the model joined this catalogue. */
  created: number;
  description: string;
  /** Pixels of every `aspect_ratio` but `auto` in every `resolution`. */
  sizes: SizeTable;
  /** The schema with every allowed value, default and bound. It validates creations, and /v1/models publishes it. */
  parameters: ParametersSchema;
  /** Only for videos: how a first_frame_image_url without other images guides the video, by reference_mode. */
  guidance?: { loneFirstFrame: Readonly<Record<string, ImageGuidance>> };
  /** When the model is deprecated and retired. `lifecycleOf` says what that means now. */
  dates: LifecycleDates;
  /** Exact sizes besides those of the table; null if there are none. */
  pixels: PixelRule | null;
  /** Whether an operator declared the model. If not, it comes with the service. */
  declared: boolean;
  /** The name of the file that declares it. */
  file: string;
  /** Other ids that OpenAI's routes accept for this model. */
  aliases: readonly string[];
  /** Whether only API keys that name this model may use it. */
  isListed: boolean;
  /** Changes when the same request would mean something else. Addresses, prices and descriptions do not change it. */
  version: string;
  /**
   * In order of preference. `choose` says whether all of them count, or only those of the first configured provider.
   */
  bindings: readonly DeclaredBinding[];
  choose: 'in_order' | 'first_configured';
  /** Rows of prices as the declaration has them. */
  prices: readonly Readonly<Record<string, unknown>>[];
  /** The parsed JSON of each workflow file that a binding names, by that name. */
  workflows: ReadonlyMap<string, unknown>;
  /** The whole model as it is stored, for processes that need it for a task and do not have its file. */
  document: ModelDocument;
}

export interface ModelDocument {
  declaration: Readonly<Record<string, unknown>>;
  workflows: Readonly<Record<string, unknown>>;
  declared: boolean;
  file: string;
  /** Unix seconds. */
  createdAt: number;
}

/** The most seconds from the creation of a task of this kind to its end. */
export function deadlineS(kind: MediaKind, config: Pick<Config, 'taskDeadlineImageS' | 'taskDeadlineVideoS'>): number {
  return kind === 'image' ? config.taskDeadlineImageS : config.taskDeadlineVideoS;
}

/** The lifecycle at `nowMs`. It changes at the dates of the model, even while the service runs. */
export function lifecycleOf(
  { dates: { deprecatedAt, sunsetAt, replacement, isRemoved } }: Pick<Model, 'dates'>,
  nowMs = Date.now(),
): Lifecycle {
  const isPast = (date: number | null) => date !== null && date * 1000 <= nowMs;
  return {
    status: isRemoved || isPast(sunsetAt) ? 'retired' : isPast(deprecatedAt) ? 'deprecated' : 'active',
    deprecated_at: isPast(deprecatedAt) ? deprecatedAt : null,
    sunset_at: sunsetAt,
    replacement,
  };
}

/**
 * Announces a model's deprecation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the replacement as `Link`.
 * @returns no header for an active model
 */
export function lifecycleHeaders({ lifecycle }: { lifecycle: Lifecycle }): Record<string, string> {
  if (lifecycle.status === 'active') return {};
  const headers: Record<string, string> = {};
  if (lifecycle.deprecated_at !== null) headers.deprecation = `@${lifecycle.deprecated_at}`;
  if (lifecycle.sunset_at !== null) headers.sunset = new Date(lifecycle.sunset_at * 1000).toUTCString();
  if (lifecycle.replacement !== null) headers.link = `</v1/models/${lifecycle.replacement}>; rel="successor-version"`;
  return headers;
}
