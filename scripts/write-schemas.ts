// Writes openapi.json and schema.graphql from the built service (`npm run build` first), here or into the folder given; run by
// `npm run schema`. Needs no database: in preview mode Nest reads the modules without making their providers.
import 'reflect-metadata';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const built = (path: string) => import(new URL(`../dist/${path}`, import.meta.url).href);

const [{ AppModule }, { createHttpApp }, { buildOpenApi }, { schemaText }, { loadConfig }] = await Promise.all([
  built('app.module.js'),
  built('platform/http/http-app.js'),
  built('platform/http/openapi.js'),
  built('platform/graphql/print-schema.js'),
  built('platform/config.js'),
]);

const config = loadConfig({});
const ground = { config, secrets: null, databaseUrl: 'postgres://nowhere.invalid/none' };
const app = await createHttpApp(AppModule.forRoot(ground), { corsOrigins: [], logLevel: 'error' }, { preview: true });
const folder = process.argv[2] ?? join(import.meta.dirname, '..');
const write = (name: string, text: string) => writeFile(join(folder, name), text);
await write('openapi.json', `${JSON.stringify(buildOpenApi(app), null, 2)}\n`);
await write('schema.graphql', await schemaText(app));
console.log('openapi.json and schema.graphql are written.');
