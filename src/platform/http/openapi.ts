import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ERRORS } from '../../errors/catalog.ts';
import { VERSION } from '../version.ts';

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
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'Your API key, `dr_…`.' }, 'api_key')
    .addSecurityRequirements('api_key')
    .build();
  const document = SwaggerModule.createDocument(app, outline, {
    operationIdFactory: (controller, method) => `${lowerFirst(controller.replace('Controller', ''))}_${method}`,
  });
  addErrors(document);
  return document;
}

/** `ApiKeysController.create` becomes `apiKeys_create`: unique, and a valid function name for generated clients. */
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
        description: 'An error; `code` identifies it.',
        headers: {
          'x-request-id': { description: 'Include it when you report a problem.', schema: { type: 'string' } },
        },
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
    message: { type: 'string', description: 'for people: what is wrong and what is allowed' },
    type: { type: 'string', enum: types, description: 'the category of the error' },
    param: {
      type: ['string', 'null'],
      description: 'the field that caused the error, such as `reference_images[2]`; null if no field did',
    } as never,
    code: { type: 'string', enum: Object.keys(ERRORS), description: 'for programs; new codes may be added' },
    request_id: { type: 'string', description: 'the same as in `x-request-id`' },
  };
  const errors: Schema = {
    type: 'array',
    maxItems: 100,
    items: { type: 'object', additionalProperties: true },
    description:
      'of `batch_invalid`: the faults of the items, each with index, line, custom_id, code, param and message',
  };
  const error: Schema = { type: 'object', required: Object.keys(fields), properties: { ...fields, errors } };
  return { type: 'object', required: ['error'], properties: { error } };
}
