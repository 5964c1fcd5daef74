import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config.ts';
import { BUS, type Bus } from './bus.ts';
import { PostgresBus } from './postgres.bus.ts';

/** The one bus of the process: Redis where EVENTS_URL names one, otherwise the database. */
@Global()
@Module({
  providers: [
    {
      provide: BUS,
      inject: [Config, DataSource],
      useFactory: async ({ eventsUrl }: Config, dataSource: DataSource): Promise<Bus> => {
        if (eventsUrl === null) return new PostgresBus((dataSource.options as { url: string }).url);
        const { RedisBus } = await import('./redis.bus.ts'); // its client is loaded only where it is used
        return new RedisBus(eventsUrl);
      },
    },
  ],
  exports: [BUS],
})
export class EventsModule {}
