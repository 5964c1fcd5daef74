import type { Model } from '../definition/model.ts';
import { modesOf, secondsOf } from './check-declaration.ts';
import type { Declaration } from './declaration.ts';
import { requestSchemaOf } from './parameters-of.ts';
import { pixelRuleOf, sizeTableOf } from './sizes-of.ts';
import { versionOf } from './version.ts';

/** What is known about a declaration besides its content. */
interface About {
  /** Whether an operator declared the model. If not, it comes with the service. */
  declared: boolean;
  /** The name of the file, without its folder. */
  file: string;
  /** Unix seconds of the day on which the id was first loaded. Used for a declaration without `created`. */
  createdAt: number;
  /** The parsed JSON of each workflow file that a binding names, by that name. */
  workflows: ReadonlyMap<string, unknown>;
}

/** @param model a declaration without faults */
export function modelOf(model: Declaration, { declared, file, createdAt, workflows }: About): Model {
  const { lifecycle = {} } = model;
  return {
    id: model.id,
    kind: model.kind,
    owned_by: model.owned_by ?? 'operator',
    created: model.created === undefined ? createdAt : secondsOf(model.created)!,
    description: model.description,
    sizes: sizeTableOf(model),
    pixels: pixelRuleOf(model),
    parameters: requestSchemaOf(model),
    ...(model.kind === 'video' && { guidance: { loneFirstFrame: guidanceOf(model) } }),
    dates: {
      deprecatedAt: lifecycle.deprecated_at === undefined ? null : secondsOf(lifecycle.deprecated_at),
      sunsetAt: lifecycle.sunset_at === undefined ? null : secondsOf(lifecycle.sunset_at),
      replacement: lifecycle.replacement ?? null,
      isRemoved: false,
    },
    declared,
    file,
    aliases: model.aliases ?? [],
    isListed: model.access === 'listed',
    version: versionOf(model, workflows),
    choose: model.choose ?? 'in_order',
    bindings: model.bindings,
    prices: model.prices ?? [],
    workflows,
    document: {
      declaration: model as unknown as Record<string, unknown>,
      workflows: Object.fromEntries(workflows),
      declared,
      file,
      createdAt,
    },
  };
}

/**
 * How each mode uses a first frame without other images. Unless the model declares otherwise, the video starts from it.
 */
function guidanceOf(model: Declaration) {
  const isStart = { as: 'first_frame' } as const;
  return Object.fromEntries(modesOf(model).map((mode) => [mode, model.guidance?.[mode] ?? isStart]));
}
