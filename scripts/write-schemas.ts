// Writes openapi.json, the types of both clients, schema.graphql, the answers of `darkroom mcp` without its service,
// and the settings in the schema of the chart's values. They are derived from the built service (`npm run build` first)
// and written here, or into the given folder. `npm run schema` runs this. It needs no database, because in preview mode
// Nest reads the modules without creating their providers.
import 'reflect-metadata';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { chartSchema } from './chart-schema.ts';
import { clientTypes } from './client-types.ts';
import { mcpAnswers } from './mcp-answers.ts';
import { pythonTypes } from './python-types.ts';

const built = (path: string) => import(new URL(`../dist/${path}`, import.meta.url).href);

const [{ AppModule }, { createHttpApp }, { buildOpenApi }, { schemaText }, { loadConfig }] = await Promise.all([
  built('app.module.js'),
  built('platform/http/http-app.js'),
  built('platform/openapi/build-openapi.js'),
  built('platform/graphql/print-schema.js'),
  built('platform/config/config.js'),
]);

const { SETTINGS } = await built('platform/config/settings.js');
const { PROVIDER_SETTINGS } = await built('platform/config/provider-settings.js');

const config = loadConfig({});
const ground = { config, secrets: null, databaseUrl: 'postgres://nowhere.invalid/none' };
const app = await createHttpApp(AppModule.forRoot(ground), { corsOrigins: [], logLevel: 'error' }, { preview: true });
const folder = process.argv[2] ?? join(import.meta.dirname, '..');
const write = async (name: string, text: string) => {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), text);
};
const openApi = buildOpenApi(app);
await write('openapi.json', `${JSON.stringify(openApi, null, 2)}\n`);
await write('packages/client/src/types.gen.ts', await clientTypes(openApi));
await write('packages/python/src/darkroom_client/types.py', pythonTypes(openApi));
await write('src/cli/mcp/answers.gen.ts', await mcpAnswers(built, config));
await write('schema.graphql', await schemaText(app));
await write('deploy/helm/darkroom/values.schema.json', chartSchema(SETTINGS, PROVIDER_SETTINGS));
console.log('openapi.json, schema.graphql, values.schema.json, types.gen.ts, types.py and answers.gen.ts are written.');
