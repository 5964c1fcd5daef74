import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = new URL('../../', import.meta.url).pathname;

describe('the committed schema files match the code (npm run schema)', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'darkroom-schema-'));
  beforeAll(() => promisify(execFile)(process.execPath, [join(root, 'scripts/write-schemas.ts'), fresh]));
  afterAll(() => rmSync(fresh, { recursive: true }));

  it.each([
    'openapi.json',
    'schema.graphql',
    'deploy/helm/darkroom/values.schema.json',
    'packages/client/src/types.gen.ts',
    'packages/python/src/darkroom_client/types.py',
    'src/cli/mcp/answers.gen.ts',
  ])('%s', (name) => {
    expect(readFileSync(join(root, name), 'utf8')).toBe(readFileSync(join(fresh, name), 'utf8'));
  });
});
