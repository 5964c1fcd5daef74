import type { KeyWatch } from '../../auth/credentials/key-watch.ts';
import type { Config } from '../../platform/config/config.ts';
import { Metrics } from '../../platform/observe/measuring/metrics.ts';
import { LiveQueue } from './live-queue.ts';
import { OpenStreams } from './open-streams.ts';

it('limits the open streams of all keys together', async () => {
  const keys = { admit: async (header: string) => ({ apiKeyId: header, release: () => undefined }) };
  const streams = new OpenStreams({} as Config, keys as unknown as KeyWatch, new Metrics());
  const open = (key: string) => streams.track(key, async () => new LiveQueue({ read: async () => [] }).states);
  const queues = await Promise.all(Array.from({ length: 5_000 }, (_, at) => open(`key ${at % 10}`)));
  await expect(open('another')).rejects.toMatchObject({ code: 'service_unavailable' });
  queues[0]!.close();
  await open('another');
});

it('closes a stream at once that opens while the service stops', async () => {
  const keys = { admit: async () => ({ apiKeyId: 'key', release: () => undefined }) };
  const streams = new OpenStreams({ shutdownGraceS: 0 } as Config, keys as unknown as KeyWatch, new Metrics());
  const opened = Promise.withResolvers<LiveQueue['states']>();
  const opening = streams.track('key', () => opened.promise);
  await streams.beforeApplicationShutdown();
  opened.resolve(new LiveQueue({ read: async () => [] }).states);
  expect((await opening).isClosed).toBe(true);
});
