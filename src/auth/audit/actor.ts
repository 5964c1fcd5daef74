import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { callerOf } from '../access.ts';
import type { Caller } from '../caller.ts';
import { requestOf } from '../guarded-request.ts';

export const ACTOR_TYPES = ['api_key', 'command_line', 'service'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** Who performs an audited act. */
export interface Actor {
  type: ActorType;
  /** Bounds what the act may grant. null: the operator or the service itself, which are not bounded. */
  caller: Caller | null;
  ip: string | null;
  requestId: string | null;
}

/** The operator, with access to the database. */
export const COMMAND_LINE: Actor = { type: 'command_line', caller: null, ip: null, requestId: null };
/** A process of the service, at its start. */
export const SERVICE: Actor = { type: 'service', caller: null, ip: null, requestId: null };

/** Injects the authenticated caller as the actor of what the handler does. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = requestOf(context);
  return { type: 'api_key', caller: callerOf(request), ip: request.ip ?? null, requestId: request.id ?? null };
});
