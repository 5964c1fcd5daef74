import { Module } from '@nestjs/common';
import { NameResolver } from './name-resolver.ts';
import { Outbound } from './outbound.ts';

/** Needs Config, which the platform provides globally. */
@Module({
  providers: [Outbound, { provide: NameResolver, useFactory: () => new NameResolver() }],
  exports: [Outbound],
})
export class OutboundModule {}
