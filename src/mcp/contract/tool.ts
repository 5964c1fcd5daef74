import type { CallToolResult, Tool as ToolDescription } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, RateBucket, Scope } from '../../auth/access/caller.ts';
import type { GuardedRequest } from '../../auth/access/access.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import type { ToolInput } from '../schemas/tool-arguments.ts';
import type { TaskHandle } from './task-handle.ts';

/** One HTTP request to the MCP server. */
export interface Exchange {
  caller: Caller;
  request: FastifyRequest & GuardedRequest;
  reply: FastifyReply;
  /** Aborts when the connection closes before the answer is complete. */
  gone: AbortSignal;
}

export interface ToolCall extends Exchange {
  /** The name of the message, from `messageName`. */
  message: string;
  /** Tells the client how far the task is, if the client asked for that. */
  report(task: ShownTask): void;
  /** Whether the client accepts a task handle instead of a result. */
  takesHandles: boolean;
}

export type ToolArguments = Record<string, unknown>;
/** Only clients that declare the tasks extension get a handle. */
export type ToolAnswer = CallToolResult | TaskHandle;

/** An operation that agents can call. Each tool has its own file. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** A function of the caller if the input names models, because callers may use different models. */
  readonly input: ToolInput | ((caller: Caller) => ToolInput);
  readonly output?: ToolDescription['outputSchema'];
  readonly annotations: ToolDescription['annotations'];
  /** Whether hosts of MCP Apps show the answer, which is a task, in the viewer. */
  readonly hasViewer?: true;
  /**
   * What the models of the tool make. Only a caller who may use such a model sees the tool in the list. Missing: every
   * caller sees the tool.
   */
  readonly kind?: MediaKind;
  /** The same scope as in REST; null if any key may call. */
  readonly scope: Scope | null;
  readonly bucket: RateBucket;
  /** @throws ApiError, which becomes a tool error */
  run(call: ToolCall, given: ToolArguments): Promise<ToolAnswer>;
}

export const READS = { readOnlyHint: true, openWorldHint: false } as const;
/** Not idempotent: a second call adds a task. Open world: a provider outside sees the prompt. */
export const CREATES = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;
