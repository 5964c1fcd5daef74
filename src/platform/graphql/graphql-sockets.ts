import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { CloseCode, handleProtocols, type Server } from 'graphql-ws';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../config/config.ts';
import { registerLiveConnections } from '../observe/measuring/live-connections.ts';
import { Metrics } from '../observe/measuring/metrics.ts';
import type { EdgeAdapter } from '../http/http-app.ts';
import { socketClosedAfter } from '../http/observe-requests.ts';
import { answerOnSocket } from '../http/raw-reply.ts';
import { requestIdOf } from '../http/request.ts';
import { withJitter } from '../run/jitter.ts';
import type { SocketHeaders, SocketRequest } from './graphql-context.ts';
import { socketOperations, type SocketState } from './socket-operations.ts';
import { GraphqlSocket } from './graphql-socket.ts';

export const GRAPHQL_PATH = '/graphql';
const MAX_MESSAGE_BYTES = 64 * 1024;
/** The most sockets of an API key in one process. */
const MAX_SOCKETS_PER_OWNER = 20;
/** A socket without a pong or message is terminated at the next ping, so within 24 s. */
const PING_MS = 12_000;
const GOING_AWAY = 1001;

export interface SocketGate {
  /** Called before the upgrade. @throws ApiError for a page that may not open a socket */
  assertMayOpen(headers: SocketHeaders): void;
  /**
   * Authenticates a socket.
   * @param onRefused called at most once, later, when the credential of the socket is no longer valid
   * @throws ApiError when the credential is not valid
   */
  admit(headers: SocketHeaders, onRefused: () => void): Promise<{ owner: string; release: () => void }>;
  /**
   * Called before a document is parsed.
   * @param request what the guard of each resolver will get
   * @throws ApiError if the key is no longer valid, or has sent too many documents that no resolver answered
   */
  admitDocument(request: SocketRequest, text: string): Promise<void>;
}

/** Subscriptions, queries and mutations over graphql-ws, on the same path as GraphQL over HTTP. */
@Injectable()
export class GraphqlSockets implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly sockets = new Set<GraphqlSocket>();
  private readonly requestIds = new WeakMap<IncomingMessage, string>();
  private readonly byState = new WeakMap<SocketState, { socket: GraphqlSocket; onClosed: () => void }>();
  private readonly countByOwner = new Map<string, number>();
  private readonly webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false, // needs 100 kB or more per socket, which costs more than the bytes it saves
    clientTracking: false,
    handleProtocols,
  });
  private operations: Server<SocketState>;
  private gate: SocketGate | undefined;
  private pings: NodeJS.Timeout | undefined;
  private isClosing = false;

  constructor(
    private readonly config: Config,
    private readonly host: HttpAdapterHost<EdgeAdapter>,
    private readonly schemaHost: GraphQLSchemaHost,
    metrics: Metrics,
  ) {
    const { sockets } = this;
    registerLiveConnections(metrics, 'websocket', {
      connections: () => sockets.size,
      subscriptions: () => sockets.values().reduce((sum, socket) => sum + socket.subscriptions, 0),
    });
  }

  /** Sets how sockets are authenticated. Until then every socket is rejected. */
  guardedBy(gate: SocketGate): void {
    this.gate = gate;
  }

  onApplicationBootstrap(): void {
    this.operations = socketOperations({
      schema: this.schemaHost.schema,
      introspection: this.config.graphqlIntrospection,
      admit: (state) => this.authenticate(state),
      admitDocument: async (request, text) => this.gate?.admitDocument(request, text),
    });
    this.webSockets.on('headers', (headers, request) => headers.push(`x-request-id: ${this.requestIds.get(request)}`));
    this.webSockets.on('wsClientError', ({ message }, socket, request) => {
      answerOnSocket(socket, new ApiError('bad_request', { message }), this.requestIds.get(request)!);
    });
    this.host.httpAdapter.edge.upgrades.claim(GRAPHQL_PATH, (request, socket, head) =>
      this.open(request, socket, head),
    );
    this.pings = setInterval(() => this.sockets.forEach((socket) => socket.ping()), PING_MS).unref();
  }

  /** Clients reconnect at once, so the closing of the sockets is spread over the grace period. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.pings);
    await withJitter([...this.sockets], this.config.shutdownGraceS, (socket) =>
      socket.close(GOING_AWAY, 'The service is shutting down; connect again.'),
    );
  }

  private open(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const requestId = requestIdOf(request);
    this.requestIds.set(request, requestId);
    if (this.isClosing) {
      const message = 'The service is shutting down; try again.';
      answerOnSocket(socket, new ApiError('service_unavailable', { message }), requestId);
      return;
    }
    const { authorization, cookie, origin, host, 'user-agent': userAgent } = request.headers;
    const headers = { authorization, cookie, origin, host, 'user-agent': userAgent };
    try {
      this.gate?.assertMayOpen(headers);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      answerOnSocket(socket, error, requestId);
      return;
    }
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) => this.serve(webSocket, { requestId, headers }));
  }

  private serve(webSocket: WebSocket, state: SocketState): void {
    const entry = { onClosed: () => {} };
    const openedMs = performance.now();
    const socket = new GraphqlSocket(webSocket, this.operations, state, () => {
      this.sockets.delete(socket);
      socketClosedAfter((performance.now() - openedMs) / 1000);
      entry.onClosed();
    });
    this.sockets.add(socket);
    this.byState.set(state, Object.assign(entry, { socket }));
  }

  private async authenticate(state: SocketState): Promise<boolean> {
    const entry = this.byState.get(state);
    if (!entry || !this.gate) return false;
    try {
      const onRefused = () => entry.socket.close(CloseCode.Forbidden, 'Forbidden');
      const { owner, release } = await this.gate.admit(state.headers, onRefused);
      if (!this.sockets.has(entry.socket)) {
        release(); // the client disconnected during authentication
        return false;
      }
      entry.onClosed = () => {
        release();
        this.decrement(owner);
      };
      if (this.increment(owner) <= MAX_SOCKETS_PER_OWNER) return true;
      entry.socket.close(CloseCode.TooManyInitialisationRequests, 'Too many sockets of this API key');
      return false;
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return false;
      throw error;
    }
  }

  private increment(owner: string): number {
    const count = (this.countByOwner.get(owner) ?? 0) + 1;
    this.countByOwner.set(owner, count);
    return count;
  }

  private decrement(owner: string): void {
    const count = (this.countByOwner.get(owner) ?? 0) - 1;
    if (count > 0) this.countByOwner.set(owner, count);
    else this.countByOwner.delete(owner);
  }
}
