import { History, Power, Send } from 'lucide-react';
import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { SAME_PRESS_MS } from '../../keys/same-press.ts';
import { useChanges } from '../../live/use-changes.ts';
import { useQuery } from '../../live/use-query.ts';
import { AbsentPage } from '../../parts/absent-page.tsx';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { ShowOnce } from '../../parts/show-once.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { report } from '../../parts/toasts.ts';
import { DeleteEndpointDialog } from './delete-endpoint.tsx';
import type { DeliverySearch } from './delivery-search.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { type EndpointAct, EndpointMenu } from './endpoint-menu.tsx';
import { EndpointLog } from './endpoint-log.tsx';
import { EndpointStats } from './endpoint-stats.tsx';
import { EndpointStatus } from './endpoint-status.tsx';
import { RecoverDialog } from './recover-dialog.tsx';
import { RotateSecretDialog } from './rotate-secret.tsx';
import { VerifyPanel } from './verify-panel.tsx';
import { Delivered, OneEndpoint, TestEndpoint, UpdateEndpoint } from './webhooks.documents.ts';

interface Props {
  endpointId: string;
  search: DeliverySearch;
  onSearch(search: DeliverySearch, isTyping?: boolean): void;
  onDeleted(): void;
}

/** One endpoint, with its log of events and answers. */
export function EndpointPage({ endpointId, search, onSearch, onDeleted }: Props) {
  const { data, error, reload } = useQuery(OneEndpoint, { id: endpointId });
  const [act, setAct] = useState<EndpointAct | null>(null);
  const [isTesting, setTesting] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  useChanges(Delivered, { endpointId }, () => void reload());

  if (error?.code === 'webhook_endpoint_not_found') {
    return (
      <AbsentPage title="Webhook endpoint" absent="No endpoint of yours has this id" to="/webhooks" screen="Webhooks" />
    );
  }
  const endpoint = data?.webhookEndpoint;
  if (!endpoint) {
    return (
      <Page title="Webhook endpoint">
        {error ? <ErrorPanel error={error} onRetry={() => void reload()} /> : <Skeleton height={240} />}
      </Page>
    );
  }
  const enabled = endpoint.status === 'ENABLED';
  async function say(work: () => Promise<unknown>, done: string) {
    try {
      await work();
      report(done);
      void reload();
    } catch (fault) {
      report(asCallError(fault).message, true);
    }
  }
  const set = (status: 'ENABLED' | 'DISABLED') =>
    say(
      () => mutate(UpdateEndpoint, { id: endpointId, input: { status } }),
      `The endpoint is ${status.toLowerCase()}.`,
    );
  const test = async () => {
    setTesting(true);
    await say(() => mutate(TestEndpoint, { id: endpointId }), 'A test event is on its way.');
    setTimeout(() => setTesting(false), SAME_PRESS_MS);
  };
  const close = () => setAct(null);
  const done = () => {
    close();
    void reload();
  };
  return (
    <Page
      title={<bdi>{endpoint.url}</bdi>}
      sub={<EndpointStatus endpoint={endpoint} withWaiting />}
      actions={
        <>
          {enabled ? (
            <Button busy={isTesting && 'Sending…'} onClick={() => void test()}>
              <Send aria-hidden /> Send test
            </Button>
          ) : (
            <Button variant="primary" onClick={() => void set('ENABLED')}>
              <Power aria-hidden /> Enable again
            </Button>
          )}
          <Button
            disabled={!enabled}
            title={enabled ? undefined : 'Enable the endpoint first'}
            onClick={() => setAct('recover')}
          >
            <History aria-hidden /> Recover
          </Button>
          <EndpointMenu enabled={enabled} onAct={setAct} onDisable={() => void set('DISABLED')} />
        </>
      }
    >
      {endpoint.description && (
        <p>
          <bdi>{endpoint.description}</bdi>
        </p>
      )}
      <EndpointStats endpoint={endpoint} />
      <EndpointLog endpointId={endpointId} enabled={enabled} search={search} onSearch={onSearch} />
      <VerifyPanel />
      {act === 'edit' && (
        <EndpointForm
          title="Edit the endpoint"
          initial={endpoint}
          words={['Save changes', 'Saving…']}
          onClose={close}
          onSave={async (input) => {
            await mutate(UpdateEndpoint, { id: endpointId, input });
            done();
          }}
        />
      )}
      {act === 'recover' && <RecoverDialog endpointId={endpointId} onClose={close} onDone={done} />}
      {act === 'rotate' && (
        <RotateSecretDialog
          endpointId={endpointId}
          onClose={close}
          onDone={(next) => {
            done();
            setSecret(next);
          }}
        />
      )}
      {act === 'delete' && <DeleteEndpointDialog endpoint={endpoint} onClose={close} onDone={onDeleted} />}
      {secret && (
        <ShowOnce
          title="The new signing secret"
          secret={secret}
          variable="DARKROOM_WEBHOOK_SECRET"
          onDone={() => setSecret(null)}
        />
      )}
    </Page>
  );
}
