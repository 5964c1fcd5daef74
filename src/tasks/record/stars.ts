import type { StoredOutput } from './task.entity.ts';

/** Longest name of a collection, in characters. */
export const MAX_COLLECTION_CHARACTERS = 64;

/** What a star, or its end, makes of the outputs of a task. */
export interface Stars {
  result: StoredOutput[] | null;
  /** Of the task: true while it or one of its outputs is kept. */
  kept: boolean;
  /** Of the task. */
  collection: string | null;
}

/** Which outputs an act is about: one, by its index, or all. */
type Chosen = number | 'all';

/** Until when the outputs without an end of their own are there, unix seconds; null: no files. */
type FilesEnd = number | null;

export const isKept = (output: StoredOutput): boolean => output.kept === true && !output.deleted;

export const keptBytes = (outputs: StoredOutput[] | null): number =>
  (outputs ?? []).reduce((sum, output) => sum + (isKept(output) ? output.size_bytes : 0), 0);

/** Whether the bytes of an output are still there. */
export const isThere = (output: StoredOutput, filesEnd: FilesEnd, nowS: number): boolean =>
  !output.deleted && (output.kept || (output.expires_at ?? filesEnd ?? 0) > nowS);

/** The first end of an output that has one of its own, unix seconds; null: none. */
export function firstEndOf(outputs: StoredOutput[] | null): number | null {
  const ends = (outputs ?? []).flatMap(({ deleted, expires_at }) => (deleted || !expires_at ? [] : [expires_at]));
  return ends.length > 0 ? Math.min(...ends) : null;
}

/** Outputs that are gone stay as they are. Beside one that is kept, each other one gets its end. */
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

/** A task whose last kept output is given up is given up with it. */
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
