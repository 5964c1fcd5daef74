import { Controller, HttpCode, Logger, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { toWebRequest } from '@modelcontextprotocol/node';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, CountsItself } from '../../auth/access.ts';
import type { Caller } from '../../auth/caller.ts';
import type { GuardedRequest } from '../../auth/guarded-request.ts';
import { RateLimits } from '../../auth/rate-limits/rate-limits.ts';
import { ApiError } from '../../errors/api-error.ts';
import { hungUp } from '../../tasks/live/hung-up.ts';
import { ProtocolServer } from '../protocol/protocol-server.ts';

/** Revision 2025-03-26 of the protocol has batches; later ones do not. */
const MAX_MESSAGES = 50;

/** MCP over Streamable HTTP, without sessions: any process answers any request. */
@ApiExcludeController()
@Controller('mcp')
@CountsItself()
export class McpController {
  private readonly logger = new Logger('mcp');

  constructor(
    private readonly servers: ProtocolServer,
    private readonly rateLimits: RateLimits,
  ) {}

  @Post()
  @HttpCode(200)
  async serve(@Req() request: FastifyRequest & GuardedRequest, @Res() reply: FastifyReply): Promise<void> {
    const { body } = request;
    const exchange = { caller: callerOf(request), request, reply, gone: hungUp(reply) };
    await this.count(exchange.caller, [body].flat());
    const handler = createMcpHandler(() => this.servers.of(exchange), {
      legacy: 'stateless',
      maxSubscriptions: 0, // nothing changes that a client could subscribe to
      onerror: (err) => this.logger.debug({ event: 'mcp_request.refused', err }),
    });
    const webRequest = await toWebRequest(request.raw, body, { signal: exchange.gone });
    const response = await handler.fetch(webRequest, { parsedBody: body });
    if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store');
    response.headers.delete('connection'); // Node's decision
    void reply.send(response);
  }

  /** Calls of tools are counted with their tool: a creation is no read. */
  private async count(caller: Caller, messages: unknown[]): Promise<void> {
    if (messages.length > MAX_MESSAGES) {
      throw new ApiError('too_many_items', { message: `A batch has at most ${MAX_MESSAGES} messages.` });
    }
    for (const message of messages) {
      if ((message as { method?: unknown } | null)?.method !== 'tools/call')
        await this.rateLimits.count(caller, 'read');
    }
  }
}
