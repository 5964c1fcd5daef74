import { lifecycleHeaders, lifecycleOf } from './model.ts';

describe('the lifecycle of a model', () => {
  const [deprecatedAt, sunsetAt] = [Date.UTC(2027, 2, 1) / 1000, Date.UTC(2027, 8, 1) / 1000];
  const dates = { deprecatedAt, sunsetAt, replacement: 'sora-2', isRemoved: false };

  it.each([
    ['2027-02-28T23:59:59Z', 'active', null],
    ['2027-03-01T00:00:00Z', 'deprecated', deprecatedAt],
    ['2027-09-01T00:00:00Z', 'retired', deprecatedAt],
  ])('is at %s %s, as its dates say', (now, status, deprecated_at) => {
    const replacement = 'sora-2';
    expect(lifecycleOf({ dates }, Date.parse(now))).toEqual({
      status,
      deprecated_at,
      sunset_at: sunsetAt,
      replacement,
    });
  });

  it('is retired without its file, whatever its dates', () => {
    const removed = { dates: { ...dates, isRemoved: true } };
    expect(lifecycleOf(removed, 0)).toMatchObject({ status: 'retired', deprecated_at: null, sunset_at: sunsetAt });
  });
});

describe('lifecycleHeaders', () => {
  it('announces nothing for an active model', () => {
    const lifecycle = { status: 'active', deprecated_at: null, sunset_at: null, replacement: null } as const;
    expect(lifecycleHeaders({ lifecycle })).toEqual({});
  });

  it('announces the dates and the replacement of a deprecated model', () => {
    const lifecycle = {
      status: 'deprecated',
      deprecated_at: 1795132800,
      sunset_at: 1798761600,
      replacement: 'gpt-image-2',
    } as const;
    expect(lifecycleHeaders({ lifecycle })).toEqual({
      deprecation: '@1795132800',
      sunset: 'Fri, 01 Jan 2027 00:00:00 GMT',
      link: '</v1/models/gpt-image-2>; rel="successor-version"',
    });
  });

  it('leaves out a date that is not set', () => {
    const lifecycle = { status: 'deprecated', deprecated_at: 1, sunset_at: null, replacement: null } as const;
    expect(lifecycleHeaders({ lifecycle })).toEqual({ deprecation: '@1' });
  });
});
