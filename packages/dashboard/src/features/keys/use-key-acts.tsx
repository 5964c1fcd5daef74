import { type ReactNode, useState } from 'react';
import { mutate } from '../../api/client.ts';
import type { Session } from '../../api/session.ts';
import { report } from '../../parts/toasts.ts';
import { ShowOnce } from '../../parts/show-once.tsx';
import { KeyForm } from './key-form.tsx';
import { type Key, UpdateKey } from './keys.documents.ts';
import { RevokeKeyDialog } from './revoke-key.tsx';
import { RotateKeyDialog } from './rotate-key.tsx';

type Act = { what: 'edit' | 'rotate' | 'revoke'; key: Key } | { what: 'show'; secret: string } | null;

interface Acts {
  start(what: 'edit' | 'rotate' | 'revoke', key: Key): void;
  /** The open dialog, if any. */
  dialog: ReactNode;
}

/** The actions on a key, for the list and for the page of the key. */
export function useKeyActs(own: Session['api_key'], onDone: (revoked: boolean) => void): Acts {
  const [act, setAct] = useState<Act>(null);
  const close = () => setAct(null);
  const show = (secret: string | null) => setAct(secret ? { what: 'show', secret } : null);
  return {
    start: (what, key) => setAct({ what, key }),
    dialog: (
      <>
        {act?.what === 'edit' && (
          <KeyForm
            own={own}
            apiKey={act.key}
            onClose={close}
            onSave={async ({ name, scopes, ...rest }) => {
              const isSame = scopes.toSorted().join() === act.key.scopes.toSorted().join();
              await mutate(UpdateKey, { id: act.key.id, input: { name, ...(!isSame && { scopes }), ...rest } });
              report('The key is changed, everywhere within 5 s.');
              close();
              onDone(false);
            }}
          />
        )}
        {act?.what === 'rotate' && (
          <RotateKeyDialog
            apiKey={act.key}
            onClose={close}
            onDone={(secret) => {
              show(secret);
              onDone(false);
            }}
          />
        )}
        {act?.what === 'revoke' && (
          <RevokeKeyDialog
            apiKey={act.key}
            isOwn={act.key.id === own.id}
            onClose={close}
            onDone={() => {
              close();
              onDone(true);
            }}
          />
        )}
        {act?.what === 'show' && (
          <ShowOnce title="The new API key" secret={act.secret} variable="DARKROOM_API_KEY" onDone={close} />
        )}
      </>
    ),
  };
}
