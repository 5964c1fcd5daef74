import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config.ts';
import { BUS, type Bus } from './bus.ts';
import { PostgresBus } from './postgres.bus.ts';

/** Provides the bus of this process: Redis if EVENTS_URL is set, otherwise PostgreSQL. */
@Global()
@Module({
  providers: [
    {
      provide: BUS,
      inject: [Config, DataSource],
      useFactory: async ({ eventsUrl }: Config, dataSource: DataSource): Promise<Bus> => {
        if (eventsUrl === null) return new PostgresBus((dataSource.options as { url: string }).url);
        const { RedisBus } = await import('./redis.bus.ts'); // loads the Redis client only when it is needed
        return new RedisBus(eventsUrl);
      },
    },
  ],
  exports: [BUS],
})
export class EventsModule {}
