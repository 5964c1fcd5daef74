import { lifecycleHeaders } from './model.ts';

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
