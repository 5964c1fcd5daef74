import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { VERSION } from '../config/version.ts';
import { COMPONENT, type Json, mapObjects, nameIn, refTo } from '../schema/component.ts';
import { addErrorResponses, errorExamples, errorSchemas, exampleRefs, NOT_OF_A_ROUTE } from './error-responses.ts';
import { SCOPE_KEY } from './faults.ts';
import { headerRefs, HEADERS } from './headers.ts';
import { splitVariants } from './variants.ts';
import { addWebhooks, WEBHOOK_EVENTS } from './webhooks.ts';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ROOT_FOLDER } from '../config/root-folder.ts';

/** Requests refuse unknown fields, so their schemas say so. Answers stay open, because fields may be added. */
function closeInputs(document: Json): void {
  const { schemas } = document.components;
  const pending = operationsOf(document).flatMap(({ requestBody }) => componentsIn(requestBody));
  const seen = new Set<string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const schema = schemas[name] as Json;
    if (schema.type === 'object') schema.additionalProperties ??= false;
    for (const property of Object.values<Json>(schema.properties ?? {})) removeStyle(property);
    pending.push(...componentsIn(schema));
  }
}

/** Removes the style, which is only for a query string: a class of query parameters may also be part of a body. */
function removeStyle(property: Json): void {
  delete property.style;
  delete property.explode;
}

function componentsIn(node: unknown): string[] {
  const found: string[] = [];
  mapObjects(node, (object) => {
    if (typeof object.$ref === 'string') found.push(nameIn(object.$ref));
    return object;
  });
  return found;
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

const operationsOf = ({ paths }: Json): Json[] =>
  Object.values<Json>(paths).flatMap((path) => METHODS.flatMap((method) => path[method] ?? []));

const IS_TEXT = /^(?:application\/json|application\/jsonl|text\/event-stream)$/;

/**
 * One real call of each operation, by method and path. `npm run examples` records them in docs/api/examples.json;
 * `dist` has a copy.
 */
const readExamples = (): Json => JSON.parse(readFileSync(`${ROOT_FOLDER}dist/reference/examples.json`, 'utf8')) as Json;

/** Adds what a running service was asked and answered: path parameters, body, successful response. */
function addExamples(operation: Json, example: Json | undefined): void {
  if (!example) return;
  const { parameters = {}, request, response } = example;
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in === 'path' && parameter.name in parameters) parameter.example = parameters[parameter.name];
  }
  const sent = operation.requestBody?.content?.['application/json'];
  if (sent && request !== undefined) sent.example = request;
  for (const [status, { content = {} }] of Object.entries<Json>(operation.responses)) {
    // If a response has several types, the example has the first.
    const [type] = Object.keys(content);
    if (status.startsWith('2') && type && IS_TEXT.test(type) && response) content[type].example = response;
  }
}

/** Keys that describe one use of a schema. They stay where the schema is used. */
const OF_THE_USE = ['description', 'default', 'example'];

/**
 * Generators name types after components, and invent names for inline schemas. So every schema that has a name becomes
 * a component. Views lose the suffix that only the source needs: `TaskView` is `Task`, as in GraphQL.
 */
export function nameComponents(document: Json): Json {
  const named: Json = {};
  const add = (name: string, schema: Json) => {
    if (name in named && !isDeepStrictEqual(named[name], schema)) throw new Error(`Two schemas are named ${name}.`);
    named[name] = schema;
  };
  const result = mapObjects(document, (object) => {
    if (typeof object.$ref === 'string') return { ...object, $ref: shortened(object.$ref) };
    const { [COMPONENT]: name, ...rest } = object;
    return name === undefined ? object : hoist(name, rest, add);
  });
  const { schemas, ...others } = result.components;
  for (const [name, schema] of Object.entries<Json>(schemas)) add(name.replace(/View$/, ''), schema);
  return { ...result, components: { ...others, schemas: sorted(named) } };
}

const shortened = (ref: string): string => (ref.startsWith('#/components/schemas/') ? ref.replace(/View$/, '') : ref);

/** Makes the schema a component. @returns what takes the place of the schema */
function hoist(name: string, object: Json, add: (name: string, schema: Json) => void): Json {
  if ('in' in object) return { ...object, schema: hoist(name, object.schema, add) };
  if (object.type === 'array') return { ...object, items: hoist(name, object.items, add) };
  const used = Object.entries(object).filter(([key]) => OF_THE_USE.includes(key));
  const schema = Object.fromEntries(Object.entries(object).filter(([key]) => !OF_THE_USE.includes(key)));
  if (!schema.enum?.includes(null)) {
    add(name, schema);
    return used.length === 0 ? refTo(name) : { allOf: [refTo(name)], ...Object.fromEntries(used) };
  }
  add(name, { ...schema, type: 'string', enum: schema.enum.filter((value: unknown) => value !== null) });
  return { anyOf: [refTo(name), { type: 'null' }], ...Object.fromEntries(used) };
}

const sorted = (schemas: Json): Json =>
  Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** The chapters of the reference, in the order of use. A test finds routes that are in no chapter. */
export const TAGS: readonly (readonly [name: string, description: string])[] = [
  ['Generations', 'Turn a prompt into images or a video. The answer is a task.'],
  ['Tasks', 'Read, follow, cancel, retry and delete tasks.'],
  ['Models', 'What can be made, and with which parameters.'],
  ['Files', 'Upload images to start from; read the bytes of uploads and of outputs.'],
  ['Batches', 'Create many generations at once, and read their results.'],
  ['Usage', 'What tasks used and cost.'],
  ['Webhooks', 'Receive signed events when tasks end.'],
  [WEBHOOK_EVENTS, 'What the service sends to your endpoints.'],
  ['API keys', 'Create, limit, rotate and revoke keys.'],
  ['Sessions', 'Sign a browser in with a key, and out.'],
  ['OpenAI-compatible', 'The image and video routes of OpenAI, for clients that are built for them.'],
  ['Operations', 'See and steer the whole service: processes, providers, pauses, tasks of all keys.'],
  ['Health', 'For load balancers, orchestrators and Prometheus.'],
];

const DESCRIPTION = `Turns prompts into images and videos: create a generation, poll its task (or wait for the signed webhook), \
download the files. Every error has the shape of \`ErrorResponse\`. Every response has the header \`x-request-id\`.`;

/**
 * Builds the OpenAPI 3.1 description of the REST API. An application in preview mode is enough: no database is needed.
 */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const outline = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Darkroom')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/')
    .addSecurity('api_key', { type: 'http', scheme: 'bearer', description: 'Your API key, `dr_…`.' })
    .addSecurityRequirements('api_key');
  for (const tag of TAGS) outline.addTag(...tag);
  const raw = SwaggerModule.createDocument(app, outline.build(), { operationIdFactory: operationId });
  const document = nameComponents(raw as Json);
  splitVariants(document);
  addWebhooks(document);
  closeInputs(document);
  Object.assign(document.components.schemas, errorSchemas());
  document.components.headers = HEADERS;
  document.components.examples = errorExamples();
  document.components.responses = { ...document.components.responses, Error: ANY_ERROR };
  const examples = readExamples();
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(methods)) {
      addExamples(operation, examples[`${method.toUpperCase()} ${path}`]);
      finish(operation, method, document.components.responses);
    }
  }
  delete document.info.contact; // Nest writes an empty one
  return document as OpenAPIObject;
}

/** `ThingsController.rename` becomes `thingsRename`: unique, and a valid function name for generated clients. */
function operationId(controller: string, method: string): string {
  const name = controller.replace('Controller', '');
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}

/**
 * Completes an operation: adds a note about its scope, the descriptions that its responses lack, headers, and error
 * responses.
 */
function finish(operation: Json, method: string, shared: Json): void {
  const scope = operation[SCOPE_KEY];
  if (scope) operation.description = [operation.description, `Needs the scope \`${scope}\`.`].filter(Boolean).join(' ');
  const isPublic = operation.security?.length === 0;
  for (const [status, response] of Object.entries<Json>(operation.responses)) {
    if (response.description === '') response.description = status === '204' ? 'Done.' : 'Success.';
    if ('$ref' in response) continue;
    const limits = isPublic ? headerRefs('x-request-id') : headerRefs('x-request-id', 'RateLimit', 'RateLimit-Policy');
    response.headers = { ...response.headers, ...limits };
  }
  addErrorResponses(operation, method, shared);
}

const ANY_ERROR = {
  description: 'Another error; `code` identifies it.',
  headers: headerRefs('x-request-id'),
  content: { 'application/json': { schema: refTo('ErrorResponse'), examples: exampleRefs(NOT_OF_A_ROUTE) } },
};
