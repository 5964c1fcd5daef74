import { createClient } from '@hey-api/openapi-ts';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Document {
  openapi: string;
  info: object;
  components?: { schemas?: object };
}

/**
 * The types of the client, from the schemas of openapi.json. The operations are left out, because the client has its
 * own functions.
 */
export async function clientTypes({ openapi, info, components }: Document): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'client-types-'));
  const schemas = structuredClone(components?.schemas ?? {});
  try {
    await createClient({
      input: { openapi, info, paths: {}, components: { schemas } } as Record<string, unknown>,
      output: { path: folder, entryFile: false },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent' },
    });
    return await readFile(join(folder, 'types.gen.ts'), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}
