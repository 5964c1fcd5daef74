import { Injectable, Logger } from '@nestjs/common';
import type { CallToolResult, ProtocolError, Result, Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../../auth/access/caller.ts';
import { logServerError, toApiError, toErrorBody } from '../../errors/error.filter.ts';
import { catalog } from '../../models/catalog.ts';
import { VERSION } from '../../platform/config/version.ts';
import { VIEWER_URI } from '../contract/apps.ts';
import { messageName } from '../contract/message-name.ts';
import { knowsLinks, withoutLinks } from '../contract/revisions.ts';
import type { Exchange, ToolArguments, ToolCall } from '../contract/tool.ts';
import { ToolsService } from '../tools/tools.service.ts';
import { progressReports } from './progress.ts';
import { ProtocolTasks } from './protocol-tasks.ts';
import { RESOURCE_TEMPLATES, ResourcesService } from './resources.service.ts';
import { readViewer } from './viewer.ts';
import { TASKS_EXTENSION } from '../contract/task-handle.ts';
import type { ApiError } from '../../errors/api-error.ts';

/** What a client tells its model of this server. The text has at most 1,000 characters. */
const INSTRUCTIONS = [
  'Darkroom makes images and videos from prompts. Each creation is a task that goes on until it ends, also when you stop waiting.',
  'Call generate_image or generate_video; the answer is the finished task with links, or the unfinished task with its id.',
  'For an unfinished task call get_task with its id; never create it again, because each creation costs.',
  'An error names the argument and what is allowed: correct it and call again.',
  'To edit an image, give the id of a file of an earlier task (file_…) or an https link in reference_images.',
  'To vary a finished task, call retry_task with another prompt. Links expire after a while; get_task gives new ones.',
  'list_models says what each model takes. Show the user the links, because previews are small.',
].join(' ');

const HOUR_MS = 3_600_000;
/** The cache hint for answers that are the same for every key until the next release. */
const SHARED = { ttlMs: HOUR_MS, cacheScope: 'public' } as const;
/**
 * The cache hint for a list of tools that names models which the operator declares. The operator may change these
 * models at any time.
 */
const CHANGING = { ...SHARED, ttlMs: 60_000 };
/** The cache hint for a list of tools that names only the models that the key may use. */
const OF_KEY = { ...CHANGING, cacheScope: 'private' } as const;
/** Whether all models come with the service. False without any model, because the operator may add some. */
const hasOnlyShipped = (): boolean => catalog.models.length > 0 && catalog.models.every(({ declared }) => !declared);
const optionsFor = ({ models }: Caller) => ({
  capabilities: { tools: {}, resources: {}, extensions: { [TASKS_EXTENSION]: {} } },
  instructions: INSTRUCTIONS,
  cacheHints: {
    'server/discover': SHARED,
    'tools/list': models ? OF_KEY : hasOnlyShipped() ? SHARED : CHANGING,
    'resources/templates/list': SHARED,
  },
});
const TASK_PARAMS = z.looseObject({ taskId: z.string() });

type TaskMethod = (exchange: Exchange, taskId: string) => Promise<Result>;

/** Makes the server for one request of any protocol revision. Nothing is kept between requests. */
@Injectable()
export class ProtocolServer {
  private readonly logger = new Logger('mcp');

  constructor(
    private readonly tools: ToolsService,
    private readonly resources: ResourcesService,
    private readonly tasks: ProtocolTasks,
  ) {}

  async of(exchange: Exchange): Promise<Server> {
    const sdk = await import('@modelcontextprotocol/server');
    const callOf = (context: ServerContext): ToolCall => {
      const envelope = context.mcpReq.envelope as Record<string, { extensions?: object }> | undefined;
      const extensions = envelope?.[sdk.CLIENT_CAPABILITIES_META_KEY]?.extensions;
      return {
        ...exchange,
        message: messageName(exchange.request, context.mcpReq.id),
        gone: AbortSignal.any([exchange.gone, context.mcpReq.signal]),
        report: progressReports(context),
        takesHandles: Object.hasOwn(extensions ?? {}, TASKS_EXTENSION),
      };
    };
    const server = new sdk.Server(
      { name: 'darkroom', title: 'Darkroom', version: VERSION },
      optionsFor(exchange.caller),
    );
    server.setRequestHandler('tools/list', () => ({ tools: this.tools.descriptions(exchange.caller) }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const given = (params.arguments ?? {}) as ToolArguments;
      const answer = (await this.tools.call(params.name, given, callOf(context))) as CallToolResult;
      const isModern = context.mcpReq.envelope !== undefined;
      const takesLinks = isModern || knowsLinks(exchange.request.raw.headers['mcp-protocol-version']);
      return takesLinks ? answer : withoutLinks(answer);
    });
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
    server.setRequestHandler('resources/list', () => this.rendering(exchange, () => this.resources.list(exchange)));
    server.setRequestHandler('resources/read', ({ params }) =>
      this.rendering(exchange, () =>
        params.uri === VIEWER_URI ? readViewer() : this.resources.read(exchange, params.uri),
      ),
    );
    const methods: Record<string, TaskMethod> = {
      'tasks/get': (of, id) => this.tasks.get(of, id),
      'tasks/cancel': (of, id) => this.tasks.cancel(of, id),
      'tasks/update': (of, id) => this.tasks.update(of, id),
    };
    for (const [method, run] of Object.entries(methods)) {
      server.setRequestHandler(method, { params: TASK_PARAMS }, ({ taskId }) =>
        this.rendering(exchange, () => run(exchange, taskId)),
      );
    }
    return server;
  }

  /** Turns every error into an error of the protocol. */
  private async rendering<Answer>({ request }: Exchange, run: () => Promise<Answer>): Promise<Answer> {
    try {
      return await run();
    } catch (thrown) {
      const error = toApiError(thrown);
      logServerError(this.logger, error, request.id);
      throw await toProtocolError(error, request.id);
    }
  }
}

/**
 * An ApiError as a JSON-RPC error, whose data has the code of the ApiError. For methods whose result cannot carry an
 * error.
 */
async function toProtocolError(error: ApiError, requestId: string): Promise<ProtocolError> {
  const { ProtocolError, ProtocolErrorCode } = await import('@modelcontextprotocol/server');
  const code = error.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, error.message, toErrorBody(error, requestId).error);
}
