import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, CountsAs, type GuardedRequest, RequireScope } from '../../auth/access/access.ts';
import { CREATION_FAULTS } from '../../generation/accept/creation-faults.ts';
import { IgnoresUnknownQuery } from '../../platform/http/query-parameters.guard.ts';
import { AcceptsBody } from '../../platform/http/multipart/accepts-body.ts';
import { ModelIds } from '../request/model-ids.ts';
import { readBody } from '../request/request-body.ts';
import { EDIT_BODY, GENERATION_BODY, IMAGES_ANSWER } from '../request/request-schemas.ts';
import { takeEditImages } from './edit-images.ts';
import { translateImages } from './image-request.ts';
import { ImagesService } from './images.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { FAILED_TASK_ERRORS } from '../../errors/failed-task-errors.ts';

type ImagesHttpRequest = FastifyRequest & GuardedRequest;

const FAILED_TASKS = Object.keys(FAILED_TASK_ERRORS) as (keyof typeof FAILED_TASK_ERRORS)[];
const GENERATIONS = '/v1/images/generations';
const EDITS = '/v1/images/edits';
/** The limit of a JSON body. Pictures may come as data: URLs. */
const JSON_BYTES = 30 * 1024 * 1024;

/** OpenAI's image routes, for clients that are built for them. */
@ApiTags('OpenAI-compatible')
@IgnoresUnknownQuery()
@Controller('v1/images')
@RequireScope('generations:write')
@CountsAs('create')
export class ImagesController {
  constructor(
    private readonly models: ModelIds,
    private readonly images: ImagesService,
  ) {}

  @Post('generations')
  @HttpCode(200)
  @AcceptsBody({ jsonBytes: JSON_BYTES })
  @ApiBody(GENERATION_BODY)
  @Fails(...CREATION_FAULTS, 'generation_timeout', ...FAILED_TASKS)
  @ApiOperation({ summary: 'Create pictures and wait for them, as at OpenAI', operationId: 'openaiGenerateImages' })
  @ApiOkResponse(IMAGES_ANSWER)
  async generate(@Req() request: ImagesHttpRequest, @Res() reply: FastifyReply): Promise<void> {
    const body = await readBody(request, GENERATIONS);
    const call = { caller: callerOf(request), reply, path: GENERATIONS, waits: true, fingerprint: body.fingerprint };
    await this.images.answer(call, body, () => translateImages(body, this.models.of(call.caller), null));
  }

  @Post('edits')
  @HttpCode(200)
  @AcceptsBody({ multipart: true, jsonBytes: JSON_BYTES })
  @ApiBody(EDIT_BODY)
  @Fails(...CREATION_FAULTS, 'generation_timeout', ...FAILED_TASKS)
  @ApiOperation({ summary: 'Edit pictures and wait for the result, as at OpenAI', operationId: 'openaiEditImages' })
  @ApiOkResponse(IMAGES_ANSWER)
  async edit(@Req() request: ImagesHttpRequest, @Res() reply: FastifyReply): Promise<void> {
    const body = await readBody(request, EDITS);
    const call = { caller: callerOf(request), reply, path: EDITS, waits: true, fingerprint: body.fingerprint };
    await this.images.answer(call, body, () =>
      translateImages(body, this.models.of(call.caller), takeEditImages(body)),
    );
  }
}
