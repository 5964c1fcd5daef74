import type { Pause } from '../../tasks/record/pause.entity.ts';

/** A model, and the bindings that can serve it. */
export interface ServedModel {
  id: string;
  bindings: readonly { name: string; endpoint: string }[];
}

type Target = Pick<Pause, 'id' | 'kind' | 'target'>;

/**
 * The ids of the models that each open pause stops, by the id of the pause. A pause of the model itself stops the
 * model. Otherwise, if all bindings of the model are paused, the newest of their pauses stops it.
 */
export function modelsOf(pauses: readonly Target[], served: readonly ServedModel[]): Map<string, string[]> {
  const models = new Map<string, string[]>(pauses.map(({ id }) => [id, []]));
  for (const { id, bindings } of served) {
    const pause =
      pauses.findLast(({ kind, target }) => kind === 'model' && target === id) ?? withoutAny(pauses, bindings);
    if (pause) models.get(pause.id)!.push(id);
  }
  return models;
}

function withoutAny(pauses: readonly Target[], bindings: ServedModel['bindings']): Target | undefined {
  const holding = bindings.map((binding) => pauses.filter((pause) => holds(pause, binding)));
  if (bindings.length === 0 || holding.some((each) => each.length === 0)) return undefined;
  return holding
    .flat()
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .at(-1);
}

const holds = ({ kind, target }: Target, { name, endpoint }: { name: string; endpoint: string }): boolean =>
  (kind === 'provider' && target === name) || (kind === 'place' && target === endpoint);
