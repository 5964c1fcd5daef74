import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.ts';
import { Metrics } from '../observe/measuring/metrics.ts';
import { Readiness } from '../run/readiness.ts';
import { Reloads } from '../config/reloads.ts';
import { Secrets } from '../config/secrets.ts';
import { Bus } from './bus.ts';
import { channelsOf } from './channel.ts';
import { PostgresTransport } from './postgres-transport.ts';

/** Provides the bus of this process: Redis if EVENTS_URL is set, otherwise PostgreSQL. */
@Global()
@Module({
  providers: [
    {
      provide: Bus,
      inject: [Config, Secrets, DataSource, Reloads],
      useFactory: async (
        { eventsUrl, databaseUrl, databaseDirectUrl }: Config,
        secrets: Secrets,
        dataSource: DataSource,
        reloads: Reloads,
      ): Promise<Bus> => {
        const [channel, ...olderChannels] = channelsOf(secrets);
        if (eventsUrl === null) {
          // The direct URL comes first, because a pooler does not pass on notifications.
          const url = databaseDirectUrl ?? databaseUrl ?? (dataSource.options as { url: string }).url;
          const transport = new PostgresTransport(url, channel, olderChannels);
          const variable = databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
          if (databaseUrl !== null) reloads.register(variable, url, (changed) => transport.changeLogin(changed));
          return new Bus(transport);
        }
        // Loads the Redis client only when it is needed.
        const { RedisTransport } = await import('./redis-transport.ts');
        return new Bus(new RedisTransport(eventsUrl, channel, olderChannels));
      },
    },
  ],
  exports: [Bus],
})
export class EventsModule implements OnModuleInit {
  constructor(
    private readonly bus: Bus,
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  /** The check is optional, because polls replace the events: the process works without the bus, only slower. */
  onModuleInit(): void {
    const { bus, metrics } = this;
    this.readiness.register('events', () => assertConnected(bus), { isOptional: true });
    metrics.gauge('darkroom_bus_connected', 'Is 1 while messages of this process come back to it, otherwise 0.', () =>
      bus.isConnected ? 1 : 0,
    );
    metrics.gauge('darkroom_bus_outbox', 'Events that wait to be sent.', () => bus.waiting);
  }
}

async function assertConnected({ isConnected }: Bus): Promise<void> {
  if (!isConnected) throw new Error('The bus is not connected.');
}
