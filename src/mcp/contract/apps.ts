import type { FastifyRequest } from 'fastify';

/** The extension of the protocol for hosts that show pages of a server. */
const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
/** The page that shows a task. */
export const VIEWER_URI = 'ui://darkroom/viewer';
export const VIEWER_TYPE = 'text/html;profile=mcp-app';

/**
 * The session of a client of a revision of 2025 that shows pages. Such a client says so in `initialize` only, and
 * nothing is kept between requests: the id itself says it again.
 */
export const APPS_SESSION = 'apps';

interface Message {
  method?: unknown;
  params?: { capabilities?: unknown; _meta?: Record<string, unknown> };
}

/** Whether a message of `initialize` says that the client shows pages. */
export const startsApps = (messages: unknown[]): boolean =>
  messages.some((message) => {
    const { method, params } = (message ?? {}) as Message;
    return method === 'initialize' && showsPages(params?.capabilities);
  });

/** @param metaKey under which a message of a later revision has the capabilities of its client */
export function takesApps({ headers, body }: Pick<FastifyRequest, 'headers' | 'body'>, metaKey: string): boolean {
  if (headers['mcp-session-id'] === APPS_SESSION) return true;
  return [body].flat().some((message) => showsPages(((message ?? {}) as Message).params?._meta?.[metaKey]));
}

function showsPages(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: Record<string, { mimeTypes?: unknown } | null> };
  const types = extensions?.[APPS_EXTENSION]?.mimeTypes;
  return Array.isArray(types) && types.includes(VIEWER_TYPE);
}
