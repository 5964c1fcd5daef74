import { hidden } from '../../platform/database/planner.ts';
import { idBoundAt, timeOfId } from '../../platform/schema/time.ts';

/** Ids from `from` on and below `to`. */
export interface Stretch {
  from: string;
  to: string;
}

/** A stretch is indexed again together with the next one once that is at least this part as long. */
const MERGE_FROM = 1 / 2;

/** What an index of the stretch has. The id is hidden, so that no index of ids fits a statement that says the same. */
export const isOfStretch = ({ from, to }: Stretch): string =>
  `${hidden('id')} < '${to}' and ${hidden('id')} >= '${from}'`;

const timeIn = (id: string): string => idBoundAt(timeOfId(id), '').slice(1);

/** The name of an index says what it has. */
export const stretchIndexOf = (partition: string, { from, to }: Stretch): string =>
  `${partition}_words_${timeIn(from)}_${timeIn(to)}`;

const NAME = /_words_(\w{10})_(\w{10})$/;

/** @returns undefined for the index of a whole partition */
export function stretchOfIndex(name: string): Stretch | undefined {
  const [, from, to] = NAME.exec(name) ?? [];
  return from && to ? { from: `task_${from}`, to: `task_${to}` } : undefined;
}

/** Those that lie in no other one. */
export const outermost = <Each extends Stretch>(stretches: readonly Each[]): Each[] =>
  stretches.filter((one) => !stretches.some((other) => other !== one && other.from <= one.from && one.to <= other.to));

/** Where the indexed stretches of a partition end. */
export const endOf = (partition: Stretch, indexed: readonly Stretch[]): string => indexed.at(-1)?.to ?? partition.from;

/**
 * The stretch to index next, with those before it that are not much longer: so each is more than twice as long as the next one, and a partition of 1,000
 * sweeps has at most seven, whose tasks were indexed seven times on average.
 * @param indexed oldest first
 * @param to the end of the new one
 */
export function nextStretch(partition: Stretch, indexed: readonly Stretch[], to: string): Stretch {
  let from = endOf(partition, indexed);
  for (const before of indexed.toReversed()) {
    if (MERGE_FROM * lengthOf(before) > lengthOf({ from, to })) break;
    from = before.from;
  }
  return { from, to };
}

export const lengthOf = ({ from, to }: Stretch): number => timeOfId(to) - timeOfId(from);
