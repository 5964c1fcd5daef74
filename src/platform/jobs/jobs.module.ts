import { Global, Module } from '@nestjs/common';
import { Jobs } from './jobs.ts';

/** Needs DataSource and Config. The worker starts by itself with the application, except in the role `api`. */
@Global()
@Module({ providers: [Jobs], exports: [Jobs] })
export class JobsModule {}
