import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ERRORS } from '../../src/errors/catalog.ts';
import { catalog } from '../../src/models/catalog.ts';
import { TAGS } from '../../src/platform/openapi/build-openapi.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../src/webhooks/record/event-type.ts';

interface Operation {
  operationId: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  responses: Record<string, { $ref?: string; content?: Record<string, { schema?: object; examples?: object }> }>;
  requestBody?: { content: Record<string, object> };
}

const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text);
const operations: [name: string, operation: Operation][] = Object.entries<Record<string, Operation>>(
  document.paths,
).flatMap(([path, methods]) => Object.entries(methods).map(([method, each]) => [`${method} ${path}`, each] as never));
const schema = (name: string) => document.components.schemas[name];

const resolve = (ref: string): object =>
  ref
    .slice(2)
    .split('/')
    .reduce((node, key) => node[key], document);

describe('openapi.json', () => {
  it('names every operation in camel case, once', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]*)*$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('puts every operation in a described chapter, with a summary', () => {
    const chapters = TAGS.map(([name]) => name);
    const lost = operations.filter(
      ([, { tags, summary }]) => !summary || tags?.length !== 1 || !chapters.includes(tags[0]!),
    );
    expect(lost.map(([name]) => name)).toEqual([]);
    expect(document.tags.map(({ name }: { name: string }) => name)).toEqual(chapters);
    expect(document.tags.every(({ description }: { description: string }) => description.length > 20)).toBe(true);
  });

  it('lists the errors of every route that needs a key, each with an example', () => {
    const guarded = operations.filter(([, { security }]) => security?.length !== 0);
    for (const [name, { responses }] of guarded) {
      const statuses = Object.keys(responses);
      expect([name, statuses]).toEqual([name, expect.arrayContaining(['400', '401', '429', '500', '503', 'default'])]);
    }
    const { responses } = operations.find(([name]) => name === 'post /v1/generations')![1];
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['402', '403', '409', '413', '415', '422']));
  });

  /** Clients of several generators send each default, also beside a parameter that excludes it. */
  it('has no default in what creates a task, but says it', () => {
    const names = document.components.schemas.GenerationRequest.oneOf.map(({ $ref }: { $ref: string }) => $ref);
    const fields = names.flatMap((ref: string) => Object.entries((resolve(ref) as { properties: object }).properties));
    expect(fields.length).toBeGreaterThan(50);
    expect(fields.filter(([, field]: [string, object]) => 'default' in field)).toEqual([]);
    expect(schema('GptImage2Request').properties.resolution.description).toMatch(/ Default: "1K"\.$/);
  });

  it('refers to nothing that is not there', () => {
    const refs = [...text.matchAll(/"\$ref": "([^"]+)"/g)].map(([, ref]) => ref!);
    expect(refs.length).toBeGreaterThan(500);
    expect([...new Set(refs)].filter((ref) => resolve(ref) === undefined)).toEqual([]);
  });

  it('keeps no key of ours', () => expect(text).not.toMatch(/"x-(component|variants|faults|scope|webhook)"/));

  it('has an example of every error, in the shape of errors', () => {
    const validate = validatorOf('ErrorResponse');
    expect(Object.keys(document.components.examples)).toEqual(Object.keys(ERRORS));
    for (const { value } of Object.values<{ value: object }>(document.components.examples)) {
      expect([value, validate(value)]).toEqual([value, true]);
    }
  });

  it('names the schema of every model, and tells them apart by the field model', () => {
    const schemas = schema('GenerationRequest').oneOf.map(({ $ref }: { $ref: string }) => resolve($ref));
    expect(schemas).toHaveLength(catalog.models.length + 1);
    for (const [at, { id }] of catalog.models.entries()) {
      expect(schemas[at]).toMatchObject({ properties: { model: { const: id } }, additionalProperties: false });
    }
  });

  it.each([
    [
      { model: 'flux', prompt: 'a fox', x_steps: 20, seed: 4_294_967_295, size: '1024x1024', reference_images: [] },
      true,
    ],
    [{ model: 'flux', prompt: 'a fox', metadata: { a: 'b' }, quality: 'max', strength: 0.5 }, true],
    [{ model: 'flux', prompt: 'a fox', steps: 20 }, false],
    [{ model: 'flux', prompt: 'a fox', x_steps: {} }, false],
    [{ model: 'gpt-image-2', prompt: 'a fox', x_steps: 20 }, false],
  ])('has one schema for the models of operators: %j', (body, isValid) => {
    expect(validatorOf('DeclaredModelRequest')(body)).toBe(isValid);
    expect(validatorOf('GenerationRequest')(body)).toBe(isValid);
  });

  it('divides a task by its status', () => {
    expect(Object.keys(schema('Task').discriminator.mapping)).toEqual(schema('TaskStatus').enum);
    expect(schema('SucceededTask').required).toEqual(expect.arrayContaining(['result', 'usage']));
    expect(schema('FailedTask').required).toEqual(expect.arrayContaining(['error', 'usage']));
    expect(schema('FailedTask').properties.result).toBeUndefined();
    expect(schema('QueuedTask').properties.usage).toBeUndefined();
  });

  it('describes every webhook', () => {
    expect(Object.keys(document.webhooks).toSorted()).toEqual([...EVENT_TYPES, TEST_EVENT].toSorted());
  });

  it('closes the schemas of requests', () => {
    for (const name of [
      'CreateApiKeyInput',
      'BudgetInput',
      'TaskFilter',
      'CreateWebhookEndpointInput',
      'RetryTaskInput',
    ]) {
      expect([name, schema(name).additionalProperties]).toEqual([name, false]);
    }
    expect(schema('TaskOutput').additionalProperties).toBeUndefined();
  });

  it('says of every integer that can pass 2^31 that it has 64 bits', () => {
    const narrow: string[] = [];
    const look = (node: any, path: string) => {
      if (typeof node !== 'object' || node === null) return;
      const isLarge = node.maximum > 2 ** 31 - 1 || /unix seconds|micro-units/.test(node.description);
      if ([node.type].flat().includes('integer') && isLarge && !(node.maximum < 2 ** 31) && node.format !== 'int64')
        narrow.push(path);
      for (const [key, value] of Object.entries(node)) if (!/^examples?$/.test(key)) look(value, `${path}/${key}`);
    };
    look(document, '');
    expect(narrow).toEqual([]);
  });

  it('says of every prompt at the routes of OpenAI that it must not be empty', () => {
    const prompts = operations.flatMap(([name, { requestBody }]) =>
      Object.values<any>(requestBody?.content ?? {}).flatMap(({ schema: { properties } }) =>
        properties?.prompt ? [[name, properties.prompt.minLength]] : [],
      ),
    );
    expect(new Set(prompts.map(([name]) => name)).size).toBeGreaterThanOrEqual(4);
    expect(prompts.filter(([, minLength]) => minLength !== 1)).toEqual([]);
  });

  it('has tags that endpoints and the events they get do not share', () => {
    const ofEvents = Object.values<any>(document.webhooks).map(({ post }) => post.tags);
    const ofRoutes = operations.flatMap(([, { tags }]) => tags);
    expect(ofEvents.flat().filter((tag: string) => ofRoutes.includes(tag))).toEqual([]);
  });

  it('has content for every answer that has a body', () => {
    const empty = operations.filter(([name, { responses }]) =>
      Object.entries(responses).some(
        ([status, response]) =>
          /^20[016]$/.test(status) && !name.startsWith('head ') && !response.content && !response.$ref,
      ),
    );
    expect(empty.map(([name]) => name)).toEqual(['put /v1/files/{id}/content']);
  });
});

function validatorOf(name: string) {
  const ajv = new Ajv2020({ strict: false, formats: { int64: true, image: true } });
  ajv.addSchema({ $id: 'openapi', components: document.components });
  return ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
}
