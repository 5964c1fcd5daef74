import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { loadConfig } from '../../../../src/platform/config/config.ts';
import { describeWith, findTool } from '../tools.ts';

const ROOT = new URL('../../../../', import.meta.url).pathname;
const FILE = join(ROOT, 'docker-compose.yml');

interface Service {
  profiles?: string[];
  build?: string;
  read_only?: boolean;
  cap_drop?: string[];
  volumes?: string[];
  environment?: Record<string, string | number>;
  stop_grace_period?: string;
  deploy?: { replicas: number };
}

const { services } = load(readFileSync(FILE, 'utf8'), { schema: CORE_SCHEMA.withTags(mergeTag) }) as {
  services: Record<string, Service>;
};
const of = (profile: string | null): string[] =>
  Object.keys(services).filter((name) => (services[name]!.profiles?.[0] ?? null) === profile);
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);

describe('docker-compose.yml', () => {
  it('starts the service and its database where no profile is named', () => {
    expect(of(null).sort()).toEqual(['darkroom', 'postgres']);
  });

  it('has two API processes and three workers in the profile scale', () => {
    expect(of('scale')).toEqual(
      expect.arrayContaining(['balancer', 'api', 'worker', 'pgbouncer', 'redis', 'bucket', 'migrate']),
    );
    expect([services.api!.deploy!.replicas, services.worker!.deploy!.replicas]).toEqual([2, 3]);
  });

  it.each(ours)('runs %s on a read-only root without capabilities, with a writable /tmp', (_, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(service.volumes).toContain('/tmp');
  });

  it.each(ours)('sets what %s starts with', (_, { environment, stop_grace_period }) => {
    const env = Object.fromEntries(
      Object.entries(environment!).map(([name, value]) => [name, withDefaults(String(value))]),
    );
    const config = loadConfig({ ...env, SECRET_KEY: 'ab'.repeat(32) });
    const graceS = Number((stop_grace_period ?? '3600s').replace('s', ''));
    expect(graceS).toBeGreaterThanOrEqual(config.shutdownDelayS + config.shutdownGraceS + 10);
    const known = readFileSync(join(ROOT, '.env.example'), 'utf8');
    for (const name of Object.keys(env)) if (!name.startsWith('AWS_')) expect(known).toContain(`\n#${name}=`);
  });

  it('mounts files that exist', () => {
    const mounted = Object.values(services).flatMap(({ volumes }) => volumes ?? []);
    const files = mounted.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0]!);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
  });
});

describeWith({ 'check-jsonschema': 'PyPI: check-jsonschema' }, 'docker-compose.yml', () => {
  it('follows the specification of Compose', () => {
    const args = ['--builtin-schema', 'vendor.compose-spec', FILE];
    expect(execFileSync(findTool('check-jsonschema')!, args, { encoding: 'utf8' })).toContain('ok');
  });
});

describeWith({ promtool: 'Debian: prometheus' }, 'deploy/compose/prometheus.yml', () => {
  it('is a configuration of Prometheus', () => {
    const args = ['check', 'config', '--syntax-only', join(ROOT, 'deploy/compose/prometheus.yml')];
    expect(execFileSync(findTool('promtool')!, args, { encoding: 'utf8' })).toContain('SUCCESS');
  });
});

/** `${NAME:-default}` and `${NAME:?message}` as Compose reads them with no variable set. */
function withDefaults(text: string): string {
  return text.replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)?\}/g, (_, byDefault: string | undefined) => byDefault ?? '');
}
