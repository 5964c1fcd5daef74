import { bounded, FIT, zoomAt } from './pan-zoom.ts';

describe('zoom', () => {
  it('keeps the point under the pointer in place', () => {
    const at = { x: 100, y: -40 };
    const next = zoomAt(FIT, 2, at);
    expect((at.x - next.x) / next.scale).toBeCloseTo((at.x - FIT.x) / FIT.scale);
    expect((at.y - next.y) / next.scale).toBeCloseTo((at.y - FIT.y) / FIT.scale);
  });

  it('ends at 800 % and at 10 %', () => {
    expect(zoomAt(FIT, 100).scale).toBe(8);
    expect(zoomAt(FIT, 0.001).scale).toBe(0.1);
  });
});

describe('pan', () => {
  it('does not move a picture that fits, and keeps a part of a larger one in sight', () => {
    const frame = { width: 400, height: 300 };
    expect(bounded({ scale: 1, x: 500, y: 500 }, frame)).toEqual({ scale: 1, x: 0, y: 0 });
    expect(bounded({ scale: 2, x: 5_000, y: 0 }, frame).x).toBe(300);
  });
});
