import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { int64: true } });
ajv.addSchema({ $id: 'openapi', ...document });

interface Answer {
  method: string;
  /** The path, with or without a query. */
  path: string;
  status: number;
  body: unknown;
}

/** What openapi.json does not allow in a JSON answer of the service. */
export function openApiFaults({ method, path, status, body }: Answer): unknown[] {
  const template = Object.keys(document.paths)
    .toSorted((a, b) => parameters(a) - parameters(b)) // /v1/tasks/cancel is before /v1/tasks/{task_id}
    .find((each) => patternOf(each).test(path.split('?', 1)[0]!));
  const operation = template && document.paths[template][method.toLowerCase()];
  if (!operation) return [`no operation for ${method} ${path}`];
  if (!operation.responses[status]) return [`${method} ${template} does not list ${status}`];
  const place = ['paths', template, method.toLowerCase(), 'responses', String(status)];
  const named = operation.responses[status].$ref?.slice(2).split('/');
  const at = [...(named ?? place), 'content', 'application/json', 'schema'];
  if (at.reduce((node, key) => node?.[key], document) === undefined) return [`${method} ${template} lists no JSON`];
  const validate = ajv.compile({ $ref: `openapi#/${at.map(escape).join('/')}` });
  return validate(body) ? [] : (validate.errors ?? ['invalid']);
}

const parameters = (template: string): number => template.split('{').length;

const patternOf = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

/** Escapes a key for a JSON pointer in a URI fragment. */
const escape = (key: string): string => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
