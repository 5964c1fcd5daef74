import type { StoredOutput } from './task.entity.ts';

/** Longest name of a collection, in characters. */
export const MAX_COLLECTION_CHARACTERS = 64;

/** The outputs of a task and its star, before or after a star is set or removed. */
export interface Stars {
  result: StoredOutput[] | null;
  /** Whether the task or one of its outputs is kept. */
  kept: boolean;
  /** The collection of the task. */
  collection: string | null;
}

/** The outputs that a change is about: one, by its index, or all. */
type Chosen = number | 'all';

/** Unix seconds at which outputs without an expiry of their own expire; null if there are no files. */
type FilesEnd = number | null;

export const isKept = (output: StoredOutput): boolean => output.kept === true && !output.deleted;

export const keptBytes = (outputs: StoredOutput[] | null): number =>
  (outputs ?? []).reduce((sum, output) => sum + (isKept(output) ? output.size_bytes : 0), 0);

/** Whether the bytes of an output are still there. */
export const isThere = (output: StoredOutput, filesEnd: FilesEnd, nowS: number): boolean =>
  !output.deleted && (output.kept || (output.expires_at ?? filesEnd ?? 0) > nowS);

/**
 * The earliest expiry, in unix seconds, among the outputs that have their own and are not deleted; null if there is
 * none.
 */
export function firstEndOf(outputs: StoredOutput[] | null): number | null {
  const ends = (outputs ?? []).flatMap(({ deleted, expires_at }) => (deleted || !expires_at ? [] : [expires_at]));
  return ends.length > 0 ? Math.min(...ends) : null;
}

/**
 * Gives stars to the chosen outputs whose bytes are still there. If an output is kept afterwards, the files no longer
 * expire together. So each output that has no star, is not deleted and has no expiry of its own gets the expiry of the
 * files.
 * @param name the collection; null for none
 */
export function keepOutputs(
  { result, collection }: Stars,
  chosen: Chosen,
  name: string | null,
  { filesEnd, nowS }: { filesEnd: FilesEnd; nowS: number },
): Stars {
  const starred = (result ?? []).map((output) =>
    (chosen === 'all' || output.index === chosen) && isThere(output, filesEnd, nowS) ? withStar(output, name) : output,
  );
  const ended = starred.map((output) =>
    output.kept || output.deleted || output.expires_at !== undefined || filesEnd === null
      ? output
      : { ...output, expires_at: filesEnd },
  );
  const kept = result && starred.some(isKept) ? ended : result;
  return { result: kept, kept: true, collection: chosen === 'all' ? name : collection };
}

/**
 * Removes stars: from one output, or from all outputs and the task. If no output keeps a star, the task loses its star
 * too.
 * @param end unix seconds at which an output that loses its star expires, if another output stays kept
 */
export function giveUpOutputs({ result, kept, collection }: Stars, chosen: Chosen, end: number): Stars {
  const isGivenUp = (output: StoredOutput) => output.kept && (chosen === 'all' || output.index === chosen);
  const isOther = (output: StoredOutput) => isKept(output) && !isGivenUp(output);
  const goesOn = chosen !== 'all' && (result?.some(isOther) ?? false);
  if (chosen !== 'all' && !result?.some(isGivenUp)) return { result, kept, collection };
  const left = result?.map((output) => {
    if (!isGivenUp(output)) return output;
    return goesOn && !output.deleted ? { ...withoutStar(output), expires_at: end } : withoutStar(output);
  });
  return { result: left ?? null, kept: goesOn, collection: goesOn ? collection : null };
}

function withStar({ expires_at: _end, collection: _name, ...output }: StoredOutput, name: string | null): StoredOutput {
  return { ...output, kept: true, ...(name !== null && { collection: name }) };
}

function withoutStar({ kept: _kept, collection: _name, ...output }: StoredOutput): StoredOutput {
  return output;
}
