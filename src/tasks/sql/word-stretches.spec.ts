import { idBoundAt } from '../../platform/schema/time.ts';
import { lengthOf, nextStretch, outermost, type Stretch, stretchIndexOf, stretchOfIndex } from './word-stretches.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 20);
const at = (minutes: number): string => idBoundAt(START + minutes * MINUTE);
const stretch = (from: number, to: number): Stretch => ({ from: at(from), to: at(to) });

describe('the stretches of a partition whose words are indexed', () => {
  const week = stretch(0, 7 * 24 * 60);

  it('are in the name of their index', () => {
    const name = stretchIndexOf('tasks_20261120', stretch(10, 25));
    expect(name.length).toBeLessThan(64);
    expect(stretchOfIndex(name)).toEqual(stretch(10, 25));
    expect(stretchOfIndex('tasks_20261120_words')).toBeUndefined();
  });

  it('begin where the partition does, the first one at the first time of an id', () => {
    expect(nextStretch(week, [], at(10))).toEqual(stretch(0, 10));
    const first = nextStretch({ from: '', to: week.to }, [], at(10));
    expect(stretchOfIndex(stretchIndexOf('tasks_first', first))).toEqual({ from: 'task_0000000000', to: at(10) });
  });

  it('are few, and seldom indexed again', () => {
    let indexed: Stretch[] = [];
    let written = 0;
    for (let minute = 10; minute <= 7 * 24 * 60; minute += 10) {
      const next = nextStretch(week, indexed, at(minute));
      written += lengthOf(next) / MINUTE;
      indexed = outermost([...indexed, next]);
      expect(indexed.length).toBeLessThanOrEqual(7);
      expect(indexed[0]!.from).toBe(week.from);
      expect(indexed.at(-1)!.to).toBe(at(minute));
      for (const [nth, each] of indexed.entries()) if (nth > 0) expect(indexed[nth - 1]!.to).toBe(each.from);
    }
    expect(written / (7 * 24 * 60)).toBeLessThan(8);
  });

  it('are those that lie in no other one', () => {
    expect(outermost([stretch(0, 40), stretch(0, 10), stretch(30, 40), stretch(40, 50)])).toEqual([
      stretch(0, 40),
      stretch(40, 50),
    ]);
  });
});
