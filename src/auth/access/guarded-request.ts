import type { ExecutionContext } from '@nestjs/common';
import type { Caller } from './caller.ts';

/** What the guard needs of a request: a Fastify request, or the object that a socket provides instead. */
export interface GuardedRequest {
  /** Over a socket: of the handshake, but `authorization` in `connection_init` takes precedence. */
  headers: {
    authorization?: string | undefined;
    cookie?: string | undefined;
    origin?: string | undefined;
    host?: string | undefined;
    'user-agent'?: string | undefined;
  };
  /** Missing over a socket, as is the route. */
  method?: string;
  routeOptions?: { url?: string | undefined };
  overSocket?: true;
  /** Missing over a socket. */
  body?: unknown;
  caller?: Caller;
  /** Of the client. Missing over a socket. */
  ip?: string;
  /** The request id; over a socket that of the handshake. */
  id?: string;
}

interface GuardedReply {
  header(name: string, value: string): unknown;
}

/**
 * What a GraphQL context must contain. Over a socket there is no reply.
 */
interface GraphqlContext {
  request: GuardedRequest;
  reply?: GuardedReply;
}

export function requestOf(context: ExecutionContext): GuardedRequest {
  return isGraphql(context) ? graphqlContext(context).request : context.switchToHttp().getRequest<GuardedRequest>();
}

export function replyOf(context: ExecutionContext): GuardedReply | undefined {
  return isGraphql(context) ? graphqlContext(context).reply : context.switchToHttp().getResponse<GuardedReply>();
}

function isGraphql(context: ExecutionContext): boolean {
  return context.getType<string>() === 'graphql';
}

/** The third argument of every GraphQL resolver. */
function graphqlContext(context: ExecutionContext): GraphqlContext {
  return context.getArgByIndex<GraphqlContext>(2);
}
