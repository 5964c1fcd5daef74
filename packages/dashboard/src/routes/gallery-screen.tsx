import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { GalleryPage } from '../features/gallery/gallery-page.tsx';
import { Forbidden } from '../parts/forbidden.tsx';
import { Page } from '../parts/page.tsx';
import { useSession } from './signed-in.tsx';
import { useTitle } from './title.ts';

export function GalleryScreen() {
  useTitle('Gallery');
  const search = useSearch({ from: '/signed-in/gallery' });
  const { fileId } = useParams({ strict: false });
  const navigate = useNavigate();
  const { history } = useRouter();
  const scopes = useSession()?.api_key.scopes ?? [];
  if (!scopes.includes('tasks:read')) {
    return (
      <Page title="Gallery">
        <Forbidden scope="tasks:read" what="see what was made" />
      </Page>
    );
  }
  const show = (next: string | null, replace: boolean) => {
    if (next)
      return void navigate({ to: '/gallery/$fileId', params: { fileId: next }, search, replace, resetScroll: false });
    // Esc does the same as Back, unless the address led directly to the picture.
    if (history.canGoBack()) history.back();
    else void navigate({ to: '/gallery', search, resetScroll: false });
  };
  return (
    <GalleryPage
      search={search}
      fileId={fileId ?? null}
      mayCreate={scopes.includes('generations:write')}
      onSearch={(next, isTyping = false) =>
        void navigate({ to: '/gallery', search: { ...next }, replace: isTyping, resetScroll: false })
      }
      onShow={show}
      onTask={(taskId, output) =>
        void navigate({ to: '/tasks/$taskId', params: { taskId }, search: { output: String(output) } })
      }
      onUse={(id) => void navigate({ to: '/create', search: { ref: id } })}
      onAnimate={({ taskId, output }) => void navigate({ to: '/create', search: { from: taskId, animate: output.id } })}
      onCreate={() => void navigate({ to: '/create' })}
    />
  );
}
