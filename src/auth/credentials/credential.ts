import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import type { GuardedRequest } from '../access/access.ts';
import { isOwnOrigin } from './same-origin.ts';
import { readSessionCookie } from './session-cookie.ts';

/** The token of a browser session, in place of an API key. */
export class SessionToken {
  constructor(
    readonly token: string,
    /** Whether the token came in the cookie for pages over https. */
    readonly isSecure: boolean,
  ) {}
}

/**
 * What identifies the caller of a request: the `Authorization` header as a string, or a session. undefined: the request
 * has neither.
 */
export type Credential = string | undefined | SessionToken;

/**
 * The HTTP routes that accept a session cookie. They are few, so that a flaw in a browser's rules for cookies exposes
 * little.
 */
const TAKES_SESSION: ReadonlySet<string> = new Set([
  'POST /graphql',
  'POST /v1/files',
  'GET /v1/session',
  'POST /v1/session',
  'DELETE /v1/session',
]);

/**
 * Reads the credential of a request. A browser adds the cookie to requests from pages of any origin, so a session is
 * accepted only from the service's own pages.
 */
@Injectable()
export class Credentials {
  constructor(private readonly config: Config) {}

  /**
   * An `Authorization` header wins over a cookie.
   * @throws ApiError origin_not_allowed when a page of another origin sends a session
   */
  of(request: GuardedRequest): Credential {
    const { authorization, cookie } = request.headers;
    if (authorization !== undefined || cookie === undefined || !takesSession(request)) return authorization;
    const found = readSessionCookie(cookie, isSecure(request));
    if (found === undefined) return undefined;
    this.assertOwnPage(request);
    return new SessionToken(found.token, found.isSecure);
  }

  /**
   * Refuses a socket that a page of another origin opens with the session cookie. Browsers add the cookie to every
   * handshake. A page of CORS_ORIGINS may open a socket all the same, because it sends an API key in `connection_init`.
   * @throws ApiError origin_not_allowed
   */
  assertMayOpenSocket(headers: GuardedRequest['headers']): void {
    const { corsOrigins } = this.config;
    const mayBringKey = corsOrigins.includes('*') || corsOrigins.includes(headers.origin ?? '');
    if (!mayBringKey) this.of({ headers, overSocket: true });
  }

  /**
   * A browser sends no `Origin` with a GET to the page's own origin, or with a GET whose response the page cannot read.
   * Any other request must have the header, with our own origin.
   * @throws ApiError origin_not_allowed
   */
  assertOwnPage({ headers, method, overSocket }: GuardedRequest): void {
    if (headers.origin === undefined && method === 'GET' && !overSocket) return;
    if (headers.origin !== undefined && isOwnOrigin(headers.origin, headers.host, this.config.publicUrl)) return;
    throw new ApiError('origin_not_allowed');
  }
}

/** Whether the page came over https. undefined: the request does not say. */
export const isSecure = ({ headers: { origin } }: GuardedRequest): boolean | undefined =>
  origin === undefined ? undefined : /^https:/i.test(origin);

function takesSession({ method, routeOptions, overSocket }: GuardedRequest): boolean {
  return overSocket === true || TAKES_SESSION.has(`${method} ${routeOptions?.url}`);
}

/**
 * The key in an `Authorization` header, `Bearer <API_KEY>`.
 * @throws ApiError missing_api_key
 */
export function bearerTokenOf(header: string | undefined): string {
  const token = header === undefined ? null : /^Bearer +([^ ].*)$/i.exec(header);
  if (!token) throw new ApiError('missing_api_key');
  return token[1]!;
}
