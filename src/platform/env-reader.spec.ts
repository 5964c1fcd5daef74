import { ConfigError } from './env-reader.ts';
import { loadConfig } from './config.ts';

describe('configuration', () => {
  it('has a default for everything', () => {
    expect(loadConfig({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      role: 'all',
      publicUrl: 'http://127.0.0.1:3000',
    });
  });

  it('names every fault at once and repeats no secret', () => {
    const env = {
      PORT: 'many',
      ROLE: 'boss',
      SECRET_KEY: 'hunter2',
      DATABASE_URL: 'mysql://me:hunter3@db/x',
      TASK_HEARTBEAT_S: '25',
    };
    const faults = faultsOf(env);
    expect(faults).toHaveLength(5);
    expect(faults.join()).toMatch(/PORT.*ROLE.*DATABASE_URL|PORT.*ROLE.*SECRET_KEY/s);
    expect(faults.join()).not.toMatch(/hunter/);
  });

  it('wants a SECRET_KEY beside a DATABASE_URL, since two processes must share it', () => {
    expect(faultsOf({ DATABASE_URL: 'postgres://db/darkroom' })).toEqual([
      'SECRET_KEY is required when DATABASE_URL is set',
    ]);
  });
});

function faultsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).faults;
  }
}
