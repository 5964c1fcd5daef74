import { Module } from '@nestjs/common';
import { AboutController } from './about.controller.ts';
import { AboutResolver } from './about.resolver.ts';

/** What the service is, for clients with a key. */
@Module({ controllers: [AboutController], providers: [AboutResolver] })
export class AboutModule {}
