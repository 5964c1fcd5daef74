import { channelsOf } from '../../../src/platform/events/channel.ts';
import { Bus } from '../../../src/platform/events/bus.ts';
import { PostgresTransport } from '../../../src/platform/events/postgres-transport.ts';
import { Secrets } from '../../../src/platform/config/secrets.ts';
import { SECRET_KEY } from '../test-env.ts';

/** Announces changed tasks to a service, as another process of its deployment does. */
export async function announcer(databaseUrl: string, keyId: string) {
  const [channel] = channelsOf(new Secrets([Buffer.from(SECRET_KEY, 'hex')]));
  const bus = new Bus(new PostgresTransport(databaseUrl, channel));
  await bus.start();
  return {
    announce: (taskIds: readonly string[]) => {
      for (const id of taskIds) bus.publish('task', `${id} ${keyId}`);
    },
    stop: () => bus.stop(),
  };
}
