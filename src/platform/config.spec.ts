import { readFileSync } from 'node:fs';
import { ConfigError, loadConfig } from './config.ts';
import { PROVIDER_SETTINGS, SETTINGS } from './settings.ts';

describe('configuration', () => {
  it('has a default for everything', () => {
    expect(loadConfig({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      role: 'all',
      publicUrl: 'http://127.0.0.1:3000',
    });
  });

  it('lists all faults at once and repeats no secret', () => {
    const env = {
      PORT: 'many',
      ROLE: 'boss',
      SECRET_KEY: 'hunter2',
      DATABASE_URL: 'mysql://me:hunter3@db/x',
      TASK_HEARTBEAT_S: '25',
    };
    const faults = faultsOf(env);
    expect(faults).toHaveLength(5);
    expect(faults.join()).toMatch(/PORT.*ROLE.*DATABASE_URL.*SECRET_KEY.*TASK_HEARTBEAT_S/s);
    expect(faults.join()).not.toMatch(/hunter/);
  });

  it.each([
    [{ PORT: '70000' }, 'PORT must be a number from 0 to 65535, not "70000"'],
    [{ PORT: '1.5' }, 'PORT must be a whole number'],
    [{ TASK_LEASE_S: '-1' }, 'TASK_LEASE_S must be a number from 0.5 to 3600, not "-1"'],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of fatal, error, .*, not "loud"$/],
    [{ OUTBOUND_ALLOW_HTTP: 'maybe' }, 'OUTBOUND_ALLOW_HTTP must be on or off, not "maybe"'],
    [{ EVENTS_URL: 'http://a' }, 'EVENTS_URL must be an address starting with redis:// or rediss://'],
    [{ WEBHOOK_RETRY_SCHEDULE: '1,x' }, /^WEBHOOK_RETRY_SCHEDULE must be numbers from 0 to .*, separated by commas$/],
    [
      { OUTBOUND_ALLOW_CIDRS: '10.0.0.0/8, 10.0.0.0/40' },
      'OUTBOUND_ALLOW_CIDRS must be CIDR ranges separated by commas; "10.0.0.0/40" is not one',
    ],
  ])('explains the fault of %j', (env, fault) => {
    expect(faultsOf(env as NodeJS.ProcessEnv)).toEqual([
      typeof fault === 'string' ? fault : expect.stringMatching(fault),
    ]);
  });

  it('reads every kind of value', () => {
    const env = {
      PORT: ' 8080 ',
      GRAPHQL_INTROSPECTION: 'OFF',
      WEBHOOK_RETRY_SCHEDULE: '1, 2.5,',
      FAL_KEY: 'k',
      HOST: '',
    };
    expect(loadConfig(env)).toMatchObject({
      port: 8080,
      host: '127.0.0.1', // NAME= means the same as no line
      graphqlIntrospection: false,
      webhookRetryScheduleS: [1, 2.5],
      credentials: { FAL_KEY: 'k', OPENAI_API_KEY: null },
    });
  });

  it('requires PUBLIC_URL for a worker, whose webhooks carry links to files that it does not serve', () => {
    expect(faultsOf({ ROLE: 'worker' })).toEqual([expect.stringMatching(/^PUBLIC_URL is required/)]);
    expect(loadConfig({ ROLE: 'worker', PUBLIC_URL: 'https://a.example/' }).publicUrl).toBe('https://a.example');
    expect(loadConfig({ ROLE: 'api' }).publicUrl).toBe('http://127.0.0.1:3000');
  });

  it('requires a SECRET_KEY with a DATABASE_URL, because all processes must share it', () => {
    expect(faultsOf({ DATABASE_URL: 'postgres://db/darkroom' })).toEqual([
      'SECRET_KEY is required when DATABASE_URL is set',
    ]);
  });
});

describe('.env.example', () => {
  const lines = readFileSync('.env.example', 'utf8').matchAll(/^#([A-Z0-9_]+)=(.*)$/gm);
  const examples = new Map([...lines].map(([, name, value]) => [name, value]));
  const settings = [...Object.values(SETTINGS), ...Object.values(PROVIDER_SETTINGS)];

  it('lists every setting and no other', () => {
    const reserved = ['OTEL_EXPORTER_OTLP_ENDPOINT'];
    expect([...examples.keys()].sort()).toEqual([...settings.map(({ variable }) => variable), ...reserved].sort());
  });

  it.each(settings.map(({ variable, schema }) => [variable, schema.parse(undefined)]))(
    'shows the default of %s',
    (variable, byDefault) => {
      const isOptional = byDefault === null || (Array.isArray(byDefault) && byDefault.length === 0);
      if (!isOptional) expect(examples.get(variable as string)).toBe(String(byDefault));
    },
  );
});

function faultsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).faults;
  }
}
