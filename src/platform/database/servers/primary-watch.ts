import { Logger } from '@nestjs/common';
import { databaseSwitches } from '../pool-metrics.ts';
import type { ServerClient } from './server-client.ts';
import type { Servers } from './servers.ts';

/** With several servers: how often the others are asked whether one of them is the primary now. */
const ASK_INTERVAL_MS = 5_000;
/**
 * How often the other servers are asked while a connection is in use for long, because its own server may be gone. A
 * slow statement has the same effect.
 */
const SUSPECT_ASK_INTERVAL_MS = 1_000;

/** Makes a pool leave its server when this server takes no more writes, or when another one has become the primary. */
export class PrimaryWatch {
  private readonly logger = new Logger('database');
  private isAsking = false;
  private hasFailed = false;
  private askedMs = performance.now();

  /** @param leave destroys all connections */
  constructor(
    private readonly servers: Servers,
    private readonly leave: () => void,
  ) {}

  /** Call this when a connection could not be opened: the next `check` then asks the other servers. */
  noteFailure(): void {
    this.hasFailed = true;
  }

  /** @param client the client of a new connection */
  observe(client: ServerClient): void {
    client.onReadOnly = () => {
      if (client.connection.stream.destroyed) return; // another connection has reported it
      this.logger.warn({ event: 'database.turned_read_only', server: this.servers.name });
      this.hasFailed = true;
      this.leave();
    };
  }

  /** If there are other servers and it is time, asks them whether one of them is the primary. Call this often. */
  async check(isSuspect: boolean): Promise<void> {
    if (!this.servers.areSeveral || this.isAsking) return;
    const suspectMs = isSuspect ? SUSPECT_ASK_INTERVAL_MS : ASK_INTERVAL_MS;
    if (performance.now() - this.askedMs < (this.hasFailed ? 0 : suspectMs)) return;
    this.isAsking = true;
    this.hasFailed = false;
    const from = this.servers.name;
    try {
      if (await this.servers.hasMoved()) {
        this.logger.warn({ event: 'database.switched', from, server: this.servers.name });
        databaseSwitches.inc();
        this.leave();
      }
    } catch (err) {
      this.logger.error({ event: 'database.check_failed', err });
    } finally {
      this.isAsking = false;
      this.askedMs = performance.now();
    }
  }
}
