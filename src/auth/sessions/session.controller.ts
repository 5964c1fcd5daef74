import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { AcceptsBody } from '../../platform/http/multipart/accepts-body.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { CurrentCaller, Public } from '../access/access.ts';
import { ApiKeyViews } from '../api-keys/api-key-views.ts';
import { ApiKeysService } from '../api-keys/api-keys.service.ts';
import { Authenticator } from '../credentials/authenticator.ts';
import type { Caller } from '../access/caller.ts';
import { type Credential, Credentials, isSecure, SessionToken } from '../credentials/credential.ts';
import { sessionCookie } from '../credentials/session-cookie.ts';
import { CreateSessionInput } from './session.inputs.ts';
import { OwnSessionView } from './session.view.ts';
import type { Session } from '../credentials/session.entity.ts';
import { type Browser, REMEMBERED_IDLE_S, SessionsService, type SignIn } from './sessions.service.ts';
import { SignInTries } from './sign-in-tries.ts';

/** Anyone may send a body, so its size is limited. A key or a code is far smaller. */
const MAX_BODY_BYTES = 4_096;

/**
 * The session of a browser: the page exchanges a key or a code for a cookie that scripts cannot read, and forgets the
 * key.
 */
@ApiTags('Sessions')
@Controller('v1/session')
export class SessionController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly apiKeys: ApiKeysService,
    private readonly views: ApiKeyViews,
    private readonly tries: SignInTries,
    private readonly credentials: Credentials,
    private readonly authenticator: Authenticator,
  ) {}

  @Post()
  @Public()
  @Fails(
    'invalid_api_key',
    'api_key_revoked',
    'api_key_expired',
    'invalid_sign_in_code',
    'origin_not_allowed',
    'rate_limit_exceeded',
  )
  @AcceptsBody({ jsonBytes: MAX_BODY_BYTES, withoutKey: true })
  @ApiOperation({ summary: 'Sign a browser in', operationId: 'createSession', security: [] })
  @ApiCreatedResponse({ type: OwnSessionView })
  async create(
    @Body() input: CreateSessionInput,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OwnSessionView> {
    this.credentials.assertOwnPage(request);
    const by = signInOf(input);
    const browser = {
      remember: input.remember ?? false,
      userAgent: request.headers['user-agent'] ?? '',
      isSecure: isSecure(request) === true,
      replaces: await this.earlierSession(this.credentials.of(request)),
    };
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const signIn = () => this.sessions.open(by, browser);
    const { token, caller, session } = await this.tries.run(request.ip, gone.signal, signIn);
    setCookie(reply, new SessionToken(token, browser.isSecure), session);
    return this.view(session, caller);
  }

  @Get()
  @Fails('session_expired', 'origin_not_allowed', 'session_not_found')
  @ApiOperation({ summary: 'Read the session of this browser', operationId: 'getSession' })
  @ApiOkResponse({ type: OwnSessionView })
  async find(
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OwnSessionView> {
    const session = await this.sessions.current(caller);
    const credential = this.credentials.of(request);
    // Each use moves the end of the session, so the end of the cookie must move too.
    if (credential instanceof SessionToken) setCookie(reply, credential, session);
    return this.view(session, caller);
  }

  @Delete()
  @Fails('session_expired', 'origin_not_allowed', 'session_not_found')
  @HttpCode(204)
  @ApiOperation({ summary: 'Sign this browser out', operationId: 'endSession' })
  @ApiNoContentResponse()
  async end(
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { id } = await this.sessions.current(caller);
    await this.sessions.end(id, caller);
    void reply.header('set-cookie', sessionCookie('', isSecure(request) === true, 0));
  }

  /**
   * @returns the session that this sign-in ends, because a browser has only one; undefined if the request has no valid
   *   session
   */
  private async earlierSession(credential: Credential): Promise<Browser['replaces']> {
    if (!(credential instanceof SessionToken)) return undefined;
    try {
      const { sessionId: id, apiKeyId } = await this.authenticator.authenticateCredential(credential);
      return id === undefined ? undefined : { id, apiKeyId };
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return undefined; // the session has ended already
      throw error;
    }
  }

  private async view(session: Session, caller: Caller): Promise<OwnSessionView> {
    return {
      id: session.id,
      object: 'session',
      expires_at: unixSeconds(session.expires_at),
      api_key: await this.views.of(await this.apiKeys.find(caller.apiKeyId)),
    };
  }
}

function setCookie(reply: FastifyReply, { token, isSecure }: SessionToken, session: Session): void {
  const maxAgeS = session.idle_s === REMEMBERED_IDLE_S ? REMEMBERED_IDLE_S : null;
  void reply.header('set-cookie', sessionCookie(token, isSecure, maxAgeS));
}

/** @throws ApiError missing_required_parameter, invalid_value */
function signInOf({ api_key: apiKey, code }: CreateSessionInput): SignIn {
  if (apiKey !== undefined && code !== undefined) {
    throw new ApiError('invalid_value', { param: 'code', message: 'Send either api_key or code, not both.' });
  }
  if (apiKey !== undefined) return { apiKey };
  if (code !== undefined) return { code };
  throw new ApiError('missing_required_parameter', { param: 'api_key', message: 'api_key or code is required.' });
}
