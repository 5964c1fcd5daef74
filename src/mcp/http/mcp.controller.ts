import { Controller, HttpCode, Logger, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, CountsItself, type GuardedRequest } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { RateLimits } from '../../auth/limits/rate-limits.ts';
import { CallsService } from '../../calls/calls.service.ts';
import { ApiError } from '../../errors/api-error.ts';
import { hungUp } from '../../tasks/live/waits.ts';
import { MCP_PATH } from '../contract/mcp-path.ts';
import { messageName } from '../contract/message-name.ts';
import { withoutNulls } from '../contract/without-nulls.ts';
import { ProtocolServer } from '../protocol/protocol-server.ts';
import { ToolsService } from '../tools/tools.service.ts';
import { accepts, JSON_TYPE, STREAM_TYPE, toJson } from './accept.ts';

/** The maximum number of messages in one batch. Protocol revision 2025-03-26 has batches; later ones do not. */
const MAX_MESSAGES = 50;
/** Each message of a batch adds a few listeners to the response, and Node warns of more than ten. */
const MAX_LISTENERS = MAX_MESSAGES * 10;

/** MCP over Streamable HTTP, without sessions: any process with the route can answer any request. */
@ApiExcludeController()
@Controller('mcp')
@CountsItself()
export class McpController {
  private readonly logger = new Logger('mcp');

  constructor(
    private readonly servers: ProtocolServer,
    private readonly tools: ToolsService,
    private readonly rateLimits: RateLimits,
    private readonly calls: CallsService,
  ) {}

  @Post()
  @HttpCode(200)
  async serve(@Req() request: FastifyRequest & GuardedRequest, @Res() reply: FastifyReply): Promise<void> {
    const body = withoutNulls(request.body);
    reply.raw.setMaxListeners(MAX_LISTENERS);
    const exchange = { caller: callerOf(request), request, reply, gone: hungUp(reply) };
    const messages = [body].flat();
    const [{ createMcpHandler, isSpecType }, { toWebRequest }] = await loadSdk();
    /**
     * Whether the message reaches a tool. The SDK itself answers a call without an id or with malformed parameters.
     * `isSpecType` does not check `requestState`, so this function does.
     */
    const reachesTool = (message: unknown): boolean => {
      const { jsonrpc, method, id, params } = (message ?? {}) as Partial<CallMessage>;
      if (jsonrpc !== '2.0' || method !== 'tools/call') return false;
      if (typeof id !== 'string' && !Number.isInteger(id)) return false;
      if (!isSpecType.CallToolRequestParams(params) || !this.tools.has(params.name)) return false;
      const { requestState } = params as { requestState?: unknown };
      return requestState === undefined || typeof requestState === 'string';
    };
    await this.count(exchange.caller, messages, reachesTool);
    for (const id of cancelledBy(messages)) await this.calls.giveUp(exchange.caller.apiKeyId, messageName(request, id));
    const handler = createMcpHandler(() => this.servers.of(exchange), {
      legacy: 'stateless',
      maxSubscriptions: 0, // there is nothing to subscribe to
      onerror: (err) => this.logger.debug({ event: 'mcp_request.refused', err }),
    });
    const webRequest = await toWebRequest(withOwnAddress(request), body, { signal: exchange.gone });
    const served = await handler.fetch(webRequest, { parsedBody: body });
    // The SDK has refused these calls before their tools could count them. Status 499 means that the client has hung
    // up.
    const refused = served.status >= 400 && served.status !== 499 ? messages : [];
    for (const message of refused) if (reachesTool(message)) await this.rateLimits.count(exchange.caller, 'read');
    const response = isRefusedStream(request, served) ? await toJson(served, Array.isArray(body)) : served;
    response.headers.delete('connection'); // Node sets it
    void reply.send(response);
  }

  /** Counts messages as reads, except calls of tools: ToolsService counts those in the bucket of the tool. */
  private async count(caller: Caller, messages: unknown[], reachesTool: (message: unknown) => boolean): Promise<void> {
    if (messages.length > MAX_MESSAGES) {
      throw new ApiError('too_many_items', { message: `A batch has at most ${MAX_MESSAGES} messages.` });
    }
    for (const message of messages.length > 0 ? messages : [null]) {
      if (!reachesTool(message)) await this.rateLimits.count(caller, 'read');
    }
  }
}

/** The SDK is loaded at the first request, because most processes serve no agents. */
const loadSdk = () => Promise.all([import('@modelcontextprotocol/server'), import('@modelcontextprotocol/node')]);

/** The ids of messages whose client no longer waits. Their connections may still be open. */
const cancelledBy = (messages: unknown[]): (string | number)[] =>
  messages.flatMap((message) => {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
    const id = method === 'notifications/cancelled' ? params?.requestId : undefined;
    return typeof id === 'string' || typeof id === 'number' ? [id] : [];
  });

interface CallMessage {
  jsonrpc: unknown;
  method: unknown;
  id: unknown;
  params: unknown;
}

const BOTH_TYPES = `${JSON_TYPE}, ${STREAM_TYPE}`;

/**
 * Whether the client accepts JSON or a stream. In requests of the revisions of 2025, the SDK demands an Accept header
 * that names both.
 */
const takesAnswers = (accept: string | undefined): boolean =>
  accepts(accept, JSON_TYPE) || accepts(accept, STREAM_TYPE);

const isRefusedStream = ({ headers }: FastifyRequest, served: Response): boolean =>
  served.headers.get('content-type')?.startsWith(STREAM_TYPE) === true && !accepts(headers.accept, STREAM_TYPE);

/**
 * The SDK builds a URL from the Host header and the path. This function replaces both, because a client may send a Host
 * or a path that no URL can have. It also lets Accept name both types of answer if the client takes one of them,
 * because the SDK refuses an Accept that names only one.
 */
const withOwnAddress = ({ raw, headers }: FastifyRequest): NodeIncomingMessageLike => ({
  method: 'POST',
  url: MCP_PATH,
  headers: { ...headers, host: 'localhost', ...(takesAnswers(headers.accept) && { accept: BOTH_TYPES }) },
  [Symbol.asyncIterator]: () => raw[Symbol.asyncIterator](),
});
