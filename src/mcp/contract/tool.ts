import type { CallToolResult, Tool as ToolDescription } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, RateBucket, Scope } from '../../auth/access/caller.ts';
import type { GuardedRequest } from '../../auth/access/access.ts';
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

/** One call of a tool. */
export interface ToolCall extends Exchange {
  /** By `messageName`. */
  message: string;
  /** Tells the client how far the task is, if it asked for that. */
  report(task: ShownTask): void;
  /** Whether the client takes the handle of a task in place of a result. */
  takesHandles: boolean;
}

export type ToolArguments = Record<string, unknown>;
/** A handle is an extension of the protocol, for clients that declare it. */
export type ToolAnswer = CallToolResult | TaskHandle;

/** An act of the service for agents. One file a tool. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Of a caller, where it names models. */
  readonly input: ToolInput | ((caller: Caller) => ToolInput);
  readonly output?: ToolDescription['outputSchema'];
  readonly annotations: ToolDescription['annotations'];
  /** Its answer is a task, which hosts of MCP Apps show in the viewer. */
  readonly hasViewer?: true;
  /** As for the same act in REST; null: any key. */
  readonly scope: Scope | null;
  readonly bucket: RateBucket;
  /** @throws ApiError, which becomes a tool error */
  run(call: ToolCall, given: ToolArguments): Promise<ToolAnswer>;
}

export const READS = { readOnlyHint: true, openWorldHint: false } as const;
/** It adds a task each time, and a provider outside sees the prompt. */
export const CREATES = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;
