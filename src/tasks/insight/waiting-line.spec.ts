import { Lane, WaitingLine } from './waiting-line.ts';

const NONE = new Lane([], [], true);
const lane = (isWhole: boolean) => new Lane(['b', 'd', 'a', 'c'], [1, 1, 2, 7], isWhole);
const line = (isWhole: boolean) => new WaitingLine(lane(isWhole), NONE, 10);
/** As many tasks, in order of their ids. */
const many = (count: number, isWhole = true) =>
  new Lane(
    Array.from({ length: count }, (_, nth) => idAt(nth + 1)),
    Array(count).fill(1),
    isWhole,
  );
const idAt = (nth: number) => String(nth).padStart(6, '0');

describe('the position in the line', () => {
  it.each([
    [1, 'b', 1],
    [1, 'd', 2],
    [2, 'a', 3],
    [7, 'c', 4],
  ])('of a waiting task is one more than there are before it: %i %s', (place, id, position) => {
    expect(line(true).positionOf({ place, id }, false)).toBe(position);
    expect(line(false).positionOf({ place, id }, false)).toBe(position);
  });

  it.each([
    [0, 'z', 1],
    [1, 'c', 2],
    [7, 'b', 4],
  ])('of a newer task is that which it will have: %i %s', (place, id, position) => {
    expect(line(false).positionOf({ place, id }, false)).toBe(position);
  });

  it('past the end is known only if the line is whole', () => {
    expect(line(true).positionOf({ place: 8, id: 'a' }, false)).toBe(5);
    expect(line(false).positionOf({ place: 8, id: 'a' }, false)).toBeNull();
    expect(new WaitingLine(NONE, NONE, 10).positionOf({ place: 1, id: 'a' }, false)).toBe(1);
  });

  it.each([0, 3, 10, 33, 50])('gives tasks of low priority %i percent of the starts, in some order', (share) => {
    const mixed = new WaitingLine(many(200), many(50), share);
    const at = (nth: number, isLow: boolean) => mixed.positionOf({ place: 1, id: idAt(nth) }, isLow)!;
    const normals = Array.from({ length: 200 }, (_, nth) => at(nth + 1, false));
    const lows = Array.from({ length: 50 }, (_, nth) => at(nth + 1, true));
    // Every position belongs to one task.
    expect([...normals, ...lows].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 250 }, (_, nth) => nth + 1));
    if (share === 0) return expect(lows[0]).toBe(201);
    if (share === 10) expect(lows.slice(0, 3)).toEqual([10, 20, 30]);
    expect(lows.filter((position) => position <= 100).length).toBe(Math.min(share, 50));
  });

  it('of a task of low priority is unknown when too many others wait', () => {
    const mixed = new WaitingLine(many(100, false), many(100), 10);
    expect(mixed.positionOf({ place: 1, id: idAt(11) }, true)).toBe(110);
    expect(mixed.positionOf({ place: 1, id: idAt(12) }, true)).toBeNull();
    expect(new WaitingLine(many(100), many(100), 10).positionOf({ place: 1, id: idAt(12) }, true)).toBe(112);
  });
});
