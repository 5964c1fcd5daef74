import type { Connection } from './connection.ts';

/** Connections that wait for a next request, to all places together. */
const MAX_IDLE = 200;
/** A connection in steady use is left after so long all the same: the server behind its address may have been replaced. */
const MAX_AGE_MS = 60_000;

/** Connections whose answer is read, for the next request to the same place within a second. */
export class KeptConnections {
  private readonly idle = new Map<string, Set<Connection>>();
  private count = 0;

  take(place: string): Connection | undefined {
    const [connection] = this.idle.get(place) ?? [];
    if (connection) this.forget(connection);
    return connection;
  }

  keep(connection: Connection): void {
    const isOld = performance.now() - connection.openedAt > MAX_AGE_MS;
    if (!connection.isOpen || isOld || this.count >= MAX_IDLE) return connection.close();
    const there = this.idle.get(connection.place) ?? new Set();
    this.idle.set(connection.place, there.add(connection));
    this.count += 1;
    connection.wasKept = true;
    connection.whenClosed = () => this.forget(connection);
  }

  close(): void {
    for (const there of this.idle.values()) for (const connection of there) connection.close();
  }

  private forget(connection: Connection): void {
    const there = this.idle.get(connection.place);
    if (!there?.delete(connection)) return;
    this.count -= 1;
    if (there.size === 0) this.idle.delete(connection.place);
  }
}
