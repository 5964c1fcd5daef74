import { axisTop } from './axis-top.ts';

it.each([
  [0, 1],
  [1, 1],
  [3, 4],
  [11, 20],
  [99, 100],
  [640, 800],
])('ends an axis above %p at %p', (highest, top) => expect(axisTop(highest, true)).toBe(top));

it('ends below one where values may', () => expect(axisTop(0.3, false)).toBeCloseTo(0.4));
