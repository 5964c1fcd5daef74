import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, CountsAs, type GuardedRequest, RequireScope } from '../../auth/access/access.ts';
import { KeyWatch } from '../../auth/credentials/key-watch.ts';
import { Config } from '../../platform/config/config.ts';
import { waitingOnPurpose } from '../../platform/http/observe-requests.ts';
import { requireJsonObject } from '../../platform/http/strict-json.ts';
import { hungUp, MAX_WAIT_S } from '../../tasks/live/waits.ts';
import { etagOf, TaskView } from '../../tasks/read/task.view.ts';
import { CREATION_FAULTS } from './creation-faults.ts';
import { acceptanceHeaders, GenerationsService } from './generations.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { CREATION_SCHEMA } from './creation-schema.ts';
import { CREATED_HEADERS, headerRefs, TakesIdempotencyKey } from '../../platform/openapi/headers.ts';

/** The request as Fastify passes it, with repeated headers joined into one. */
type CreationRequest = FastifyRequest<{ Headers: { 'idempotency-key'?: string; prefer?: string } }> & GuardedRequest;

@ApiTags('Generations')
@Controller('v1/generations')
export class GenerationsController {
  constructor(
    private readonly config: Config,
    private readonly keys: KeyWatch,
    private readonly generations: GenerationsService,
  ) {}

  @Post()
  @RequireScope('generations:write')
  @CountsAs('create')
  @Fails(...CREATION_FAULTS)
  @ApiOperation({ summary: 'Create a generation', operationId: 'createGeneration' })
  @TakesIdempotencyKey()
  @ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`wait=N`: answer when the task is final, or after N seconds (at most 60)',
    schema: { type: 'string', maxLength: 255 },
    example: 'wait=30',
  })
  @ApiBody({ schema: CREATION_SCHEMA })
  @ApiCreatedResponse({ type: TaskView, headers: { ...CREATED_HEADERS, ...headerRefs('ETag', 'Preference-Applied') } })
  async create(
    // Separate @Body and @Headers parameters would run Nest's pipes, which cost time and do nothing here.
    @Req() request: CreationRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { body, headers } = request;
    const waitS = readPreferredWait(headers.prefer);
    const accept = (gone?: AbortSignal) =>
      this.generations.accept(callerOf(request), requireJsonObject(body), {
        idempotencyKey: headers['idempotency-key'],
        waitS,
        gone,
        waiting: (wait) => waitingOnPurpose(request, 'prefer', wait),
      });
    const accepted =
      waitS > 0
        ? await this.keys.whileAdmitted(
            headers.authorization,
            (refused) => accept(AbortSignal.any([hungUp(reply), refused])),
            'generations:write',
          )
        : await accept();
    if (accepted.task) reply.header('etag', etagOf(accepted.task, this.config.fileUrlTtlS));
    if (waitS > 0) reply.header('preference-applied', `wait=${waitS}`);
    reply.headers(acceptanceHeaders(accepted));
    return accepted.json();
  }
}

/**
 * Reads the `wait` preference (RFC 7240). A preference never fails a request. So an invalid wait, or one of more than
 * six digits, counts as 0, and any other wait above 60 s counts as 60 s.
 * @returns seconds, 0 to 60
 */
function readPreferredWait(prefer: string | undefined): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?([0-9]{1,6})"?(?=$|[,;\s])/i.exec(prefer ?? '') ?? [];
  return seconds === undefined ? 0 : Math.min(Number(seconds), MAX_WAIT_S);
}
