import { Module } from '@nestjs/common';
import { AboutController } from './about.controller.ts';
import { AboutResolver } from './about.resolver.ts';

/** Tells clients with an API key what the service is. */
@Module({ controllers: [AboutController], providers: [AboutResolver] })
export class AboutModule {}
