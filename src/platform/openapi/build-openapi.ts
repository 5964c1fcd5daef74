import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { VERSION } from '../version.ts';
import { closeInputs } from './close-inputs.ts';
import { type Json, refTo } from './component.ts';
import { addErrorResponses, errorExamples, errorSchemas, exampleRefs, NOT_OF_A_ROUTE } from './error-responses.ts';
import { SCOPE_KEY } from './faults.ts';
import { addExamples } from './examples.ts';
import { HEADERS, headerRefs } from './headers.ts';
import { nameComponents } from './name-components.ts';
import { TAGS } from './tags.ts';
import { splitVariants } from './variants.ts';
import { addWebhooks } from './webhooks.ts';

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
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(methods)) {
      addExamples(operation, method, path);
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

/** Adds what every operation has. */
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
