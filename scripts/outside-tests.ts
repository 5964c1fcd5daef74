import { execFileSync, spawnSync } from 'node:child_process';

/**
 * Runs the outside tests of the parts that changed since the commit CI_BASE, by default the parent of HEAD. With
 * CI_ALL=1 it runs all of them.
 */

/** Folders of tests, each with the beginnings of the paths that they test. */
const ABOUT: Readonly<Record<string, readonly string[]>> = {
  'test/outside/client': [
    'packages/client/',
    'packages/python/',
    'packages/viewer/',
    'src/mcp/',
    'openapi.json',
    'scripts/pack-',
    'scripts/python-types.ts',
  ],
  'test/outside/dashboard': ['packages/dashboard/', 'src/dashboard/', 'schema.graphql', 'test/support/browser/'],
  'test/outside/deploy/chart': ['deploy/helm/', 'src/platform/config/settings.ts'],
  'test/outside/deploy/compose': ['docker-compose.yml', 'deploy/compose/'],
  'test/outside/deploy/haproxy': ['deploy/haproxy/', 'src/health/'],
  'test/outside/deploy/image': ['Dockerfile', '.dockerignore'],
  'test/outside/deploy/pgbouncer': ['deploy/pgbouncer/', 'src/platform/database/'],
  'test/outside/deploy/failover': ['deploy/patroni/', 'src/platform/database/servers/'],
  'test/outside/deploy/prometheus': ['deploy/prometheus/', 'deploy/grafana/', 'src/platform/observe/measuring/'],
  'test/outside/deploy/redis': ['src/platform/events/'],
  'test/outside/deploy/s3': ['src/platform/storage/'],
  'test/outside/deploy/unsupported-servers': ['src/platform/database/', 'src/platform/events/'],
  'test/outside/deploy/upgrade': ['src/platform/database/migrations/'],
  'test/outside/hostile': [
    'src/platform/http/',
    'src/platform/schema/',
    'src/platform/graphql/',
    'test/support/hostile/',
  ],
  'test/outside/mcp-clients': ['src/mcp/'],
  'test/outside/model-reloads': ['src/models/', 'src/providers/declared-models.ts'],
  'test/outside/thumbnails': ['src/generation/images/thumbnails.ts'],
  'test/outside/webhook-latency': ['src/webhooks/'],
};

const { CI_ALL, CI_BASE = 'HEAD~' } = process.env;
const changed =
  CI_ALL === '1'
    ? null
    : execFileSync('git', ['diff', '--name-only', CI_BASE, 'HEAD'], { encoding: 'utf8' }).trim().split('\n');
const touched = Object.entries(ABOUT)
  .filter(
    ([tests, about]) => changed?.some((file) => [tests, ...about].some((start) => file.startsWith(start))) ?? true,
  )
  .map(([tests]) => tests);
console.log(touched.length > 0 ? `Outside tests: ${touched.join(', ')}` : 'No outside test is about this change.');
if (touched.length > 0) {
  const { status } = spawnSync('npm', ['run', '-s', 'jest', '--', ...touched], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
