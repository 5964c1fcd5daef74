import { Injectable, Logger } from '@nestjs/common';
import type { CallToolResult, Result, Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { logServerError, toApiError } from '../../errors/error.filter.ts';
import { VERSION } from '../../platform/version.ts';
import type { Exchange, ToolArguments, ToolCall } from '../tools/tool.ts';
import { ToolsService } from '../tools/tools.service.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { progressReports } from './progress.ts';
import { toProtocolError } from './protocol-error.ts';
import { ProtocolTasks } from './protocol-tasks.ts';
import { RESOURCE_TEMPLATES, ResourcesService } from './resources.service.ts';
import { TASKS_EXTENSION } from './task-handle.ts';

const HOUR_MS = 3_600_000;
/** The same for every key, until the next release. */
const SHARED = { ttlMs: HOUR_MS, cacheScope: 'public' } as const;
const OPTIONS = {
  capabilities: { tools: {}, resources: {}, extensions: { [TASKS_EXTENSION]: {} } },
  instructions: INSTRUCTIONS,
  cacheHints: { 'server/discover': SHARED, 'tools/list': SHARED, 'resources/templates/list': SHARED },
};
const TASK_PARAMS = z.looseObject({ taskId: z.string() });

type TaskMethod = (exchange: Exchange, taskId: string) => Promise<Result>;

/** Serves one request of the protocol, of every revision. Nothing is kept between requests. */
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
        gone: AbortSignal.any([exchange.gone, context.mcpReq.signal]),
        report: progressReports(context),
        takesHandles: Object.hasOwn(extensions ?? {}, TASKS_EXTENSION),
      };
    };
    const server = new sdk.Server({ name: 'darkroom', title: 'Darkroom', version: VERSION }, OPTIONS);
    server.setRequestHandler('tools/list', () => ({ tools: this.tools.descriptions }));
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const given = (params.arguments ?? {}) as ToolArguments;
      return this.tools.call(params.name, given, callOf(context)) as Promise<CallToolResult>;
    });
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
    server.setRequestHandler('resources/list', () => this.rendering(exchange, () => this.resources.list(exchange)));
    server.setRequestHandler('resources/read', ({ params }) =>
      this.rendering(exchange, () => this.resources.read(exchange, params.uri)),
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

  /** The errors of ours become errors of the protocol. */
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
