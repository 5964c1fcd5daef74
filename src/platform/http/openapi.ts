import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { createRequire } from 'node:module';
import { ERRORS } from '../../errors/catalog.ts';

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

const DESCRIPTION = `Turns prompts into images and videos: create a generation, poll its task (or wait for the signed webhook), \
fetch the files. Every failure has the shape of \`ErrorResponse\`; every reply carries \`x-request-id\`.`;

/** The OpenAPI 3.1 description of the REST API. Needs no database: an application in preview mode will do. */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const outline = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Darkroom')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'Your API key, `dr_…`.' }, 'api_key')
    .addSecurityRequirements('api_key')
    .build();
  const document = SwaggerModule.createDocument(app, outline, {
    operationIdFactory: (controller, method) => `${lowerFirst(controller.replace('Controller', ''))}_${method}`,
  });
  addErrors(document);
  return document;
}

/** `ApiKeysController.create` becomes `apiKeys_create`: unique, and a name that generated clients can use. */
function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function addErrors(document: OpenAPIObject): void {
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ErrorResponse: errorResponse() },
    responses: {
      ...document.components?.responses,
      Error: {
        description: 'A failure; `code` says which.',
        headers: { 'x-request-id': { description: 'Quote it when you ask for help.', schema: { type: 'string' } } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
      },
    },
  };
  for (const path of Object.values(document.paths)) {
    for (const operation of [path.get, path.head, path.post, path.put, path.patch, path.delete]) {
      if (operation) operation.responses.default ??= { $ref: '#/components/responses/Error' };
    }
  }
}

type Schema = Exclude<NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string], { $ref: string }>;

function errorResponse(): Schema {
  const types = [...new Set(Object.values(ERRORS).map(({ type }) => type))];
  const fields: Record<string, Schema> = {
    message: { type: 'string', description: 'for people: what was wrong and what is allowed' },
    type: { type: 'string', enum: types, description: 'the kind of failure' },
    param: { type: ['string', 'null'], description: 'the field at fault, such as `reference_images[2]`' } as never,
    code: { type: 'string', enum: Object.keys(ERRORS), description: 'for programs; new ones may be added' },
    request_id: { type: 'string', description: 'the same as in `x-request-id`' },
  };
  const error: Schema = { type: 'object', required: Object.keys(fields), properties: fields };
  return { type: 'object', required: ['error'], properties: { error } };
}
