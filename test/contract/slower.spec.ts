import { verdictOn } from '../../benchmarks/support/slower.ts';

describe('whether a build has become slower', () => {
  const calm = [0.99, 1.01, 1, 1.02, 0.98, 1, 1.01];

  it('is so where a figure lost more than a tenth', () => {
    expect(verdictOn({ base: calm.map((ratio) => ratio * 0.85), control: calm })).toMatchObject({ slower: true });
    expect(verdictOn({ base: calm.map((ratio) => ratio * 0.93), control: calm })).toMatchObject({ slower: false });
  });

  it('is not so where the same build differs from itself as much', () => {
    const restless = [0.6, 1.5, 0.9, 1.3, 0.7, 1.6, 1];
    const verdict = verdictOn({ base: restless.map((ratio) => ratio * 0.85), control: restless });
    expect(verdict).toMatchObject({ slower: false });
    expect(verdict.bound).toBeLessThan(0.8);
  });

  it('is so even on a restless machine where a figure fell to a third', () => {
    const restless = [0.6, 1.5, 0.9, 1.3, 0.7, 1.6, 1];
    expect(verdictOn({ base: restless.map((ratio) => ratio / 3), control: restless })).toMatchObject({ slower: true });
  });

  it('is not so where another process of the same build is as fast as the earlier one', () => {
    const twin = calm.map((ratio) => ratio * 0.85);
    expect(verdictOn({ base: calm.map((ratio) => ratio * 0.85), control: twin })).toMatchObject({ slower: false });
  });

  it('is not decided by one bad round', () => {
    const base = [...calm.slice(1), 0.2];
    expect(verdictOn({ base, control: calm })).toMatchObject({ slower: false });
  });
});
