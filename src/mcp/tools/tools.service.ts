import { Injectable, Logger } from '@nestjs/common';
import type { CallToolResult, Tool as ToolDescription } from '@modelcontextprotocol/server';
import { assertScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { RateLimits } from '../../auth/limits/rate-limits.ts';
import { logServerError, toApiError, toErrorBody } from '../../errors/error.filter.ts';
import { CancelTaskTool } from './cancel-task.tool.ts';
import { GenerateImageTool } from './generate-image.tool.ts';
import { GenerateVideoTool } from './generate-video.tool.ts';
import { GetTaskTool } from './get-task.tool.ts';
import { GetUsageTool } from './get-usage.tool.ts';
import { KeepTaskTool } from './keep-task.tool.ts';
import { ListModelsTool } from './list-models.tool.ts';
import { ListTasksTool } from './list-tasks.tool.ts';
import { RetryTaskTool } from './retry-task.tool.ts';
import { VIEWER_URI } from '../contract/apps.ts';
import type { Tool, ToolAnswer, ToolArguments, ToolCall } from '../contract/tool.ts';
import { perCaller } from '../schemas/model-arguments.ts';
import { present } from '../contract/without-nulls.ts';

const kindsFor = perCaller((models) => new Set(models.map(({ kind }) => kind)));

/** The tools, in the order in which clients list them. */
@Injectable()
export class ToolsService {
  private readonly logger = new Logger('mcp');
  private readonly byName: ReadonlyMap<string, Tool>;

  constructor(
    private readonly rateLimits: RateLimits,
    generateImage: GenerateImageTool,
    generateVideo: GenerateVideoTool,
    getTask: GetTaskTool,
    listTasks: ListTasksTool,
    cancelTask: CancelTaskTool,
    retryTask: RetryTaskTool,
    keepTask: KeepTaskTool,
    listModels: ListModelsTool,
    getUsage: GetUsageTool,
  ) {
    const tools: Tool[] = [
      generateImage,
      generateVideo,
      getTask,
      listTasks,
      cancelTask,
      retryTask,
      keepTask,
      listModels,
      getUsage,
    ];
    this.byName = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** The descriptions are the same for every key that names no models, so that clients may share them. */
  descriptions(caller: Caller): ToolDescription[] {
    const kinds = kindsFor(caller);
    const listed = [...this.byName.values()].filter(({ kind }) => !kind || kinds.has(kind));
    return listed.map((tool) => describe(tool, caller));
  }

  has(name: unknown): boolean {
    return typeof name === 'string' && this.byName.has(name);
  }

  /**
   * Calls a tool. An ApiError becomes a result too, so that an agent can read it and correct itself.
   * @throws ProtocolError for an unknown tool
   */
  async call(name: string, given: ToolArguments, call: ToolCall): Promise<ToolAnswer> {
    const tool = this.byName.get(name);
    if (!tool) {
      const { ProtocolError, ProtocolErrorCode } = await import('@modelcontextprotocol/server');
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name.slice(0, 64)}.`);
    }
    try {
      await this.rateLimits.count(call.caller, tool.bucket);
      if (tool.scope) assertScope(call.caller, tool.scope);
      return await tool.run(call, present(given));
    } catch (thrown) {
      return this.failed(thrown, call);
    }
  }

  private failed(thrown: unknown, { request }: ToolCall): CallToolResult {
    const error = toApiError(thrown);
    logServerError(this.logger, error, request.id);
    return { content: [{ type: 'text', text: JSON.stringify(toErrorBody(error, request.id)) }], isError: true };
  }
}

function describe(tool: Tool, caller: Caller): ToolDescription {
  const { name, title, description, input, output, annotations, hasViewer } = tool;
  return {
    name,
    title,
    description,
    inputSchema: (typeof input === 'function' ? input(caller) : input) as unknown as ToolDescription['inputSchema'],
    ...(output && { outputSchema: output }),
    annotations: { title, ...annotations },
    ...(hasViewer && { _meta: { ui: { resourceUri: VIEWER_URI } } }),
  };
}
