import type { ReactNode } from 'react';
import type { Scope, Session } from '../api/session.ts';
import { Forbidden } from '../parts/forbidden.tsx';
import { Page } from '../parts/page.tsx';
import { useSession } from './signed-in.tsx';
import { useTitle } from './title.ts';

interface Props {
  title: string;
  scope?: Scope;
  /** What the scope allows, such as `see tasks`. */
  what?: string;
  children(session: Session): ReactNode;
}

/** Draws a screen only if the key has its scope. Otherwise no call of the screen is sent. */
export function Gate({ title, scope, what = 'see this', children }: Props) {
  useTitle(title);
  const session = useSession();
  if (!session) return null;
  if (scope && !session.api_key.scopes.includes(scope)) {
    return (
      <Page title={title}>
        <Forbidden scope={scope} what={what} />
      </Page>
    );
  }
  return children(session);
}
