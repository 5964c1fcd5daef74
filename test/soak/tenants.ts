import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import type { Deployment } from './deployment.ts';
import type { RunRecord } from './run-record.ts';
import type { Surroundings } from './surroundings.ts';

/** An API key that lives through the whole run. */
export interface Tenant {
  name: string;
  id: string;
  key: string;
  /** Its endpoint that always answers 500, and that the service disables now and then. */
  failingEndpoint: string | null;
}

const TENANTS = 6;

/**
 * Makes the keys. Each has an endpoint that answers at once; one tenant in three has also a slow one, one in three a
 * failing one.
 */
export async function makeTenants(deployment: Deployment, surroundings: Surroundings): Promise<Tenant[]> {
  const admin = deployment.member('api-1').client(deployment.key);
  const tenants: Tenant[] = [];
  for (let nth = 0; nth < TENANTS; nth += 1) {
    const name = `tenant-${nth}`;
    const { body } = await admin.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name });
    const webhooks = new WebhookClient(new Api(admin.baseUrl, body.key));
    await webhooks.endpoint(surroundings.hook(`good/${name}`));
    if (nth % 3 === 1) await webhooks.endpoint(surroundings.hook(`slow/${name}`));
    const failing = nth % 3 === 2 ? await webhooks.endpoint(surroundings.hook(`failing/${name}`)) : null;
    tenants.push({ name, id: body.id, key: body.key, failingEndpoint: failing?.id ?? null });
  }
  return tenants;
}

/**
 * Follows all tasks of a tenant by `/v1/events`, at one API after the other, and resumes after each interruption. Every end
 * must arrive, although processes are killed meanwhile.
 */
export async function followByEvents(
  { name, key }: Tenant,
  deployment: Deployment,
  record: RunRecord,
  over: AbortSignal,
): Promise<void> {
  const ends = new Set<string>();
  record.streamed.set(name, ends);
  let lastEventId: string | undefined;
  for (let nth = 0; !over.aborted; nth += 1) {
    const api = deployment.apis[nth % deployment.apis.length]!;
    let reader: EventReader | null = null;
    try {
      reader = await EventReader.open(api.url, '/v1/events', key, lastEventId === undefined ? {} : { lastEventId });
      record.count('streams opened');
      const reopenAt = Date.now() + 180_000; // a client that reconnects from time to time
      const stream = watch(reader.ended);
      stream.isOpen = reader.reply.ok;
      do {
        await sleep(200);
        for (const { id, data } of reader.events.splice(0)) {
          record.count('stream events');
          if (id !== undefined) lastEventId = id;
          if (data.status === 'succeeded' || data.status === 'failed') ends.add(data.task_id);
        }
      } while (stream.isOpen && !over.aborted && Date.now() < reopenAt);
    } catch {
      record.count('streams refused');
      await sleep(500);
    }
    reader?.close();
  }
}

/** The same by a GraphQL subscription, from now on after each interruption. */
export async function followByGraphql(
  { key }: Tenant,
  deployment: Deployment,
  record: RunRecord,
  over: AbortSignal,
): Promise<void> {
  for (let nth = 1; !over.aborted; nth += 1) {
    const client = new GraphqlClient(deployment.apis[nth % deployment.apis.length]!.url, key);
    const following = client.follow('subscription { tasksUpdated { taskId status progress } }');
    record.count('subscriptions opened');
    const subscription = watch(following.ended);
    const reopenAt = Date.now() + 120_000;
    do {
      await sleep(500);
      record.count('subscription events', following.events.splice(0).length);
    } while (subscription.isOpen && !over.aborted && Date.now() < reopenAt);
    following.stop();
    await client.close().catch(() => undefined);
  }
}

/** Enables the failing endpoints again from time to time, and sends what they missed. */
export async function repairEndpoints(
  tenants: Tenant[],
  deployment: Deployment,
  record: RunRecord,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await sleep(90_000, undefined, { signal: over }).catch(() => undefined);
    for (const { key, failingEndpoint: id } of tenants) {
      if (!id) continue;
      const webhooks = new WebhookClient(deployment.member('api-1').client(key));
      try {
        const { body } = await webhooks.read(id);
        if (body.status !== 'disabled') continue;
        await webhooks.change(id, { status: 'enabled' });
        await webhooks.recover(id, Math.floor(Date.now() / 1000) - 60);
        record.count('endpoints enabled again');
      } catch {
        record.count('requests without response');
      }
    }
  }
}

function watch(ended: Promise<void>): { isOpen: boolean } {
  const state = { isOpen: true };
  const close = () => (state.isOpen = false);
  ended.then(close, close);
  return state;
}
