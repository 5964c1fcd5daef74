import { assertOwnBackends, assertOwnSessions, type Backend } from './session-check.ts';

/** A connection that has these backends one after the other. */
function connection(backends: string[], settings: Partial<Backend> = {}) {
  let asked = 0;
  return async (): Promise<Backend> => ({
    backend: backends[asked++ % backends.length]!,
    lock_timeout: '2s',
    enable_seqscan: 'off',
    ...settings,
  });
}

describe('the check of database connections', () => {
  it('accepts connections with a backend of their own', async () => {
    await assertOwnBackends(connection(['1']), connection(['2']));
  });

  it.each([
    ['share a backend', connection(['1']), connection(['1'])],
    ['sometimes share a backend', connection(['1']), connection(['2', '3', '1'])],
    ['change their backend', connection(['1', '1', '3']), connection(['2'])],
  ])('refuses connections that %s', async (_, first, second) => {
    await expect(assertOwnBackends(first, second)).rejects.toThrow('transaction or statement mode');
  });

  it('names the setting of a server that cannot be reached, also where both addresses of a name refuse', async () => {
    const away = (host: string) => assertOwnSessions(`postgres://me:hunter2@${host}:9/x`);
    await expect(away('127.0.0.1')).rejects.toThrow('DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:9');
    await expect(away('localhost')).rejects.toThrow(/^DATABASE_URL cannot be used: connect ECONNREFUSED/);
  });

  it('refuses connections without the settings of the service', async () => {
    for (const dropped of [{ lock_timeout: '0' }, { enable_seqscan: 'on' }]) {
      await expect(assertOwnBackends(connection(['1'], dropped), connection(['2'], dropped))).rejects.toThrow(
        'settings',
      );
    }
  });
});
