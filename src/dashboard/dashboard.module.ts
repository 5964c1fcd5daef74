import { Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Config } from '../platform/config/config.ts';
import { Storage } from '../platform/storage/storage.ts';
import { readBuiltFiles } from './built-files.ts';
import { serveApp } from './serve-app.ts';

/** Serves the files of the browser app. The app itself calls only the public API. */
@Module({})
export class DashboardModule {
  /** Adds the routes in the constructor, because the server takes no routes after its start. */
  constructor(host: HttpAdapterHost, { dashboard, role, fileDelivery }: Config, storage: Storage) {
    if (!dashboard || role === 'worker') return;
    const origin = async (): Promise<string | null> => (fileDelivery === 'redirect' ? storage.linkOrigin() : null);
    serveApp(host.httpAdapter.getInstance<FastifyInstance>(), readBuiltFiles(), origin);
  }
}
