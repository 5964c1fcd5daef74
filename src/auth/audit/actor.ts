import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { callerOf, type GuardedRequest, requestOf } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';

/** Longer User-Agent headers are cut to this many characters. */
const MAX_USER_AGENT = 200;

export const ACTOR_TYPES = ['api_key', 'command_line', 'service'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

export interface Actor {
  type: ActorType;
  /**
   * The key that acts, which bounds what the act may grant. null: the operator or the service itself, without bounds.
   */
  caller: Caller | null;
  ip: string | null;
  requestId: string | null;
  /** The signed-in browser that sent the request. Missing when a program sent the request with the key itself. */
  browser?: { sessionId: string; userAgent: string };
  /** The reason that an operator gave. */
  reason?: string;
}

/** The actor with the reason for the act, if one is given. */
export const because = (actor: Actor, reason: string | null | undefined): Actor =>
  typeof reason === 'string' ? { ...actor, reason } : actor;

/** The operator, with access to the database. */
export const COMMAND_LINE: Actor = { type: 'command_line', caller: null, ip: null, requestId: null };
/** A process of the service that acts by itself, without a request. */
export const SERVICE: Actor = { type: 'service', caller: null, ip: null, requestId: null };

/** Injects the authenticated caller as the actor of what the handler does. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor =>
  actorOf(requestOf(context)),
);

export function actorOf(request: GuardedRequest): Actor {
  const caller = callerOf(request);
  const { sessionId } = caller;
  const userAgent = (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT);
  return {
    type: 'api_key',
    caller,
    ip: request.ip ?? null,
    requestId: request.id ?? null,
    ...(sessionId !== undefined && { browser: { sessionId, userAgent } }),
  };
}
