import type { Connection } from './connection.ts';

/** Idle connections over all keys. */
const MAX_IDLE = 200;
/** Older connections are closed even if they are in use: the server behind the address may have been replaced. */
const MAX_AGE_MS = 60_000;

/** Connections whose answer was read completely, kept for the next request with the same key within a second. */
export class IdleConnections {
  private readonly idle = new Map<string, Set<Connection>>();
  private count = 0;

  take(key: string): Connection | undefined {
    const [connection] = this.idle.get(key) ?? [];
    if (connection) this.remove(connection);
    return connection;
  }

  keep(connection: Connection): void {
    const isOld = performance.now() - connection.openedAt > MAX_AGE_MS;
    if (!connection.isOpen || isOld || this.count >= MAX_IDLE) return connection.close();
    const sameKey = this.idle.get(connection.key) ?? new Set();
    this.idle.set(connection.key, sameKey.add(connection));
    this.count += 1;
    connection.isReused = true;
    connection.onClose = () => this.remove(connection);
  }

  close(): void {
    for (const connections of this.idle.values()) for (const connection of connections) connection.close();
  }

  private remove(connection: Connection): void {
    const sameKey = this.idle.get(connection.key);
    if (!sameKey?.delete(connection)) return;
    this.count -= 1;
    if (sameKey.size === 0) this.idle.delete(connection.key);
  }
}
