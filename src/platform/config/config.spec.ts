import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from './config.ts';
import { PROVIDER_SETTINGS } from './provider-settings.ts';
import { SETTINGS } from './settings.ts';

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
    [{ CELL: 'a-' }, 'CELL must be two characters of 0-9, A-Z and a-z, not "a-"'],
    [{ CELL: 'abc' }, 'CELL must be two characters of 0-9, A-Z and a-z, not "abc"'],
    [{ PORT: '70000' }, 'PORT must be a number from 0 to 65535, not "70000"'],
    [{ PORT: '1.5' }, 'PORT must be a whole number'],
    [{ TASK_LEASE_S: '-1' }, 'TASK_LEASE_S must be a number from 0.5 to 3600, not "-1"'],
    [{ PROVENANCE: 'on' }, 'PROVENANCE must be one of off, metadata, c2pa, not "on"'],
    [{ PROVENANCE: 'c2pa', C2PA_KEY: 'x' }, 'C2PA_CERT and C2PA_KEY are required when PROVENANCE is c2pa'],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of fatal, error, .*, not "loud"$/],
    [
      { LOG_LEVELS: 'webhook=warn' },
      /^LOG_LEVELS must be pairs such as .*, not "webhook=warn"; the names are .*, words;/,
    ],
    [{ LOG_LEVELS: 'bus=loud' }, /^LOG_LEVELS must be pairs .*; the values are fatal, .*, silent$/],
    [{ LOG_LEVELS: 'bus' }, /^LOG_LEVELS must be pairs such as/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' }, /^OTEL_EXPORTER_OTLP_HEADERS must be pairs such as [^"2]*$/],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'a=%zz' }, /^OTEL_RESOURCE_ATTRIBUTES must be pairs such as/],
    [{ OTEL_TRACES_SAMPLER_ARG: '5' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "5"'],
    [{ LOG_REQUESTS: 'some' }, 'LOG_REQUESTS must be one of all, errors, none, not "some"'],
    [{ OUTBOUND_ALLOW_HTTP: 'maybe' }, 'OUTBOUND_ALLOW_HTTP must be on or off, not "maybe"'],
    [{ FILE_DELIVERY: 'cdn', STORAGE_URL: 's3://b' }, 'FILE_DELIVERY must be one of proxy, redirect, not "cdn"'],
    [{ FILE_DELIVERY: 'redirect' }, 'FILE_DELIVERY=redirect requires STORAGE_URL: files on disk have no other server'],
    [{ EVENTS_URL: 'http://a' }, /^EVENTS_URL must be an address starting with redis:\/\/, rediss:\/\/, /],
    [{ EVENTS_URL: 'redis+sentinel://a,b' }, /^EVENTS_URL must end with the name of the master: /],
    [{ WEBHOOK_RETRY_SCHEDULE: '1,x' }, /^WEBHOOK_RETRY_SCHEDULE must be numbers from 0 to .*, separated by commas$/],
    [
      { OUTBOUND_ALLOW_CIDRS: '10.0.0.0/8, 10.0.0.0/40' },
      'OUTBOUND_ALLOW_CIDRS must be CIDR ranges separated by commas; "10.0.0.0/40" is not one',
    ],
    [{ HOST: 'http://localhost' }, /^HOST must be a name or an IP address to listen on, .*, not "http:\/\/localhost"$/],
    [{ HOST: '127.0.0.1:80' }, /^HOST must be/],
    [{ PUBLIC_URL: 'https://a.example/darkroom' }, /^PUBLIC_URL must be an address without a path/],
    [{ PUBLIC_URL: 'https://a.example?x' }, /^PUBLIC_URL must be an address without a path/],
    [{ PUBLIC_URL: 'https://me:hunter2@a.example' }, /^PUBLIC_URL must be an address without a path[^2]*$/],
    [{ PUBLIC_URL: '"https://a.example"' }, 'PUBLIC_URL must not be in quotes: `docker run --env-file` keeps them'],
    [{ OPENAI_API_KEY: "'hunter2'" }, 'OPENAI_API_KEY must not be in quotes: `docker run --env-file` keeps them'],
    [{ DATA_DIR: '~/darkroom' }, /^DATA_DIR must be the whole path, not "~\/darkroom"/],
    [{ DATA_DIR: '$HOME/darkroom' }, /^DATA_DIR must be the whole path/],
    [{ PORT: '0' }, 'PUBLIC_URL is required when PORT is 0: links carry the port'],
    [{ CORS_ORIGINS: '*, a.example' }, /^CORS_ORIGINS must be origins .*, not "a.example"$/],
    [{ MCP_ALLOWED_ORIGINS: 'https://a.example/app' }, /^MCP_ALLOWED_ORIGINS must be origins/],
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
      LOG_LEVELS: 'webhooks=warn, bus=debug',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YQ==, x-team=7',
    };
    expect(loadConfig(env)).toMatchObject({
      port: 8080,
      host: '127.0.0.1', // NAME= means the same as no line
      logLevels: { webhooks: 'warn', bus: 'debug' },
      otelHeaders: { authorization: 'Basic YQ==', 'x-team': '7' },
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

  it.each([
    ['::1', 'http://[::1]:3000'],
    ['[::1]', 'http://[::1]:3000'],
    ['::', 'http://[::1]:3000'],
    ['0.0.0.0', 'http://127.0.0.1:3000'],
    ['fe80::1%eth0', 'http://[fe80::1]:3000'],
    ['localhost', 'http://localhost:3000'],
  ])('makes a base of links of HOST=%s', (HOST, publicUrl) => {
    const config = loadConfig({ HOST });
    expect(config.publicUrl).toBe(publicUrl);
    expect(config.host).toBe(HOST.replace(/[[\]]/g, ''));
  });

  it('takes origins in the form in which browsers send them', () => {
    const CORS_ORIGINS = 'https://App.Example:443/, capacitor://localhost, null';
    expect(loadConfig({ CORS_ORIGINS }).corsOrigins).toEqual(['https://app.example', 'capacitor://localhost', 'null']);
  });

  it('takes an empty OPENAI_MODEL_ALIASES for none, and refuses what are no pairs', () => {
    expect(loadConfig({}).openaiModelAliases).toContain('dall-e-3=gpt-image-2');
    expect(loadConfig({ OPENAI_MODEL_ALIASES: '' }).openaiModelAliases).toBe('');
    expect(faultsOf({ OPENAI_MODEL_ALIASES: 'dall-e-3' })).toEqual([
      expect.stringMatching(/^OPENAI_MODEL_ALIASES must/),
    ]);
  });

  it('takes several database servers, but none behind a pooler, which does not tell them apart', () => {
    const several = 'postgres://a,b/darkroom?target_session_attrs=read-write';
    const env = { SECRET_KEY: 'ab'.repeat(32), DATABASE_URL: several };
    expect(loadConfig(env).databaseUrl).toBe(several);
    const pooled = { ...env, DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: several };
    expect(faultsOf(pooled)).toEqual([expect.stringContaining('DATABASE_URL must name one pooler')]);
    expect(loadConfig({ ...pooled, DATABASE_URL: 'postgres://pooler/darkroom' }).databaseDirectUrl).toBe(several);
    expect(faultsOf({ ...env, DATABASE_URL: 'postgres://a,b/darkroom' })).toEqual([
      'DATABASE_URL must have ?target_session_attrs=read-write when it names several hosts',
    ]);
  });

  it('requires a SECRET_KEY with a DATABASE_URL, because all processes must share it', () => {
    expect(faultsOf({ DATABASE_URL: 'postgres://db/darkroom' })).toEqual([
      'SECRET_KEY is required when DATABASE_URL is set',
    ]);
  });
});

describe('a setting in a file', () => {
  let folder: string;
  const file = (content: string): string => {
    const path = join(folder, 'value');
    writeFileSync(path, content);
    return path;
  };
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'darkroom-settings-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is read from the file that NAME_FILE names', () => {
    const key = 'ab'.repeat(32);
    const config = loadConfig({ SECRET_KEY: '', SECRET_KEY_FILE: file(`${key}\n`), FAL_KEY_FILE: file(`${key}\n`) });
    expect(config).toMatchObject({ secretKey: key, credentials: { FAL_KEY: key } });
  });

  it('counts for the settings that another one requires', () => {
    expect(faultsOf({ DATABASE_URL_FILE: file('postgres://db/darkroom') })).toEqual([
      'SECRET_KEY is required when DATABASE_URL is set',
    ]);
  });

  it('may be the credential that a binding names', () => {
    const config = loadConfig({ OUR_OWN_KEY_FILE: file(' hunter2\n') });
    expect([config.secretOf('OUR_OWN_KEY'), config.secretOf('ANOTHER_KEY')]).toEqual(['hunter2', null]);
    expect(() => loadConfig({ OUR_OWN_KEY_FILE: '/absent' }).secretOf('OUR_OWN_KEY')).toThrow(
      'OUR_OWN_KEY_FILE: /absent cannot be read (ENOENT)',
    );
  });

  it('is refused when the file is absent or empty, or when both are set, without its value', () => {
    const empty = file('\n');
    expect(faultsOf({ FAL_KEY_FILE: '/absent', SECRET_KEY_FILE: empty })).toEqual([
      `SECRET_KEY_FILE: ${empty} is empty`,
      'FAL_KEY_FILE: /absent cannot be read (ENOENT)',
    ]);
    expect(faultsOf({ SECRET_KEY: 'ab'.repeat(32), SECRET_KEY_FILE: file('hunter2') })).toEqual([
      'SECRET_KEY and SECRET_KEY_FILE are both set: keep one',
    ]);
    expect(faultsOf({ SECRET_KEY_FILE: file('hunter2') })).toEqual([
      'SECRET_KEY must be 32 bytes in hex (64 characters)',
    ]);
  });
});

describe('.env.example', () => {
  const lines = readFileSync('.env.example', 'utf8').matchAll(/^#([A-Z0-9_]+)=(.*)$/gm);
  const examples = new Map([...lines].map(([, name, value]) => [name, value]));
  const settings = [...Object.values(SETTINGS), ...Object.values(PROVIDER_SETTINGS)];

  it('lists every setting and no other', () => {
    expect([...examples.keys()].sort()).toEqual(settings.map(({ variable }) => variable).sort());
  });

  it.each(settings.map(({ variable, schema }) => [variable, schema.parse(undefined)]))(
    'shows the default of %s',
    (variable, byDefault) => {
      const isOptional = byDefault === null || (typeof byDefault === 'object' && Object.keys(byDefault).length === 0);
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
