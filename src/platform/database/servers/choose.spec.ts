import { type Answer, choosePrimary } from './choose.ts';

const host = (name: string) => ({ name, url: `postgres://${name}/darkroom` });
const [a, b, c] = ['a', 'b', 'c'].map(host) as [ReturnType<typeof host>, ...ReturnType<typeof host>[]];
const primary = (at: typeof a, timeline: number, system = '7'): Answer => ({
  host: at,
  role: 'primary',
  timeline,
  system,
});
const away: Answer = { host: c!, role: 'away', cause: new Error('ECONNREFUSED') };

describe('the choice of the primary', () => {
  it('is the one that takes writes', () => {
    expect(choosePrimary([{ host: a, role: 'standby' }, primary(b!, 1), away])).toBe(b);
    expect(choosePrimary([{ host: a, role: 'read-only' }, primary(b!, 1)])).toBe(b);
  });

  it('is none when none takes writes', () => {
    expect(choosePrimary([{ host: a, role: 'standby' }, { host: b!, role: 'read-only' }, away])).toBeUndefined();
  });

  it('is the one that was promoted last, when one before it still answers', () => {
    expect(choosePrimary([primary(a, 3), primary(b!, 4)], a)).toBe(b);
    expect(choosePrimary([primary(a, 4), primary(b!, 3)], a)).toBe(a);
    expect(choosePrimary([primary(a, 9), primary(b!, 10)])).toBe(b);
  });

  it('stays at the present one when none is newer', () => {
    expect(choosePrimary([primary(a, 3), primary(b!, 3)], b)).toBe(b);
    expect(choosePrimary([primary(a, 3), primary(b!, 3)])).toBe(a);
  });

  it('refuses primaries of two clusters', () => {
    expect(() => choosePrimary([primary(a, 1), primary(b!, 5, '8')], a)).toThrow('b and a are primaries of different');
  });
});
