import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { ApiKeyView } from '../api-keys/api-key.view.ts';
import type { Session } from '../credentials/session.entity.ts';

/** The session of the browser that sent the request. */
export class OwnSessionView {
  @ApiField.string('identifier', { example: 'sess_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.string('always "session"') object: 'session';
  @ApiField.long('unix seconds at which the session ends; each use moves the end') expires_at: number;
  @ApiField.object(() => ApiKeyView, 'the API key that the browser is signed in with') api_key: ApiKeyView;
}

@ObjectType('Session', { description: 'A browser that is signed in with the asking API key.' })
export class SessionView {
  @ApiField.string('identifier') id: string;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds, accurate to about a minute') last_seen_at: number;
  @ApiField.long('unix seconds at which the session ends; each use moves the end') expires_at: number;
  @ApiField.string('the browser, as it names itself') user_agent: string;
  @ApiField.boolean('whether it is the asking browser') current: boolean;
}

@ObjectType('EndedSession', { description: 'A browser that is not signed in any more.' })
export class EndedSessionView {
  @ApiField.string('identifier') id: string;
}

export function toSessionView(session: Session, currentId: string | undefined): SessionView {
  return {
    id: session.id,
    created_at: unixSeconds(session.created_at),
    last_seen_at: unixSeconds(session.last_seen_at),
    expires_at: unixSeconds(session.expires_at),
    user_agent: session.user_agent,
    current: session.id === currentId,
  };
}
