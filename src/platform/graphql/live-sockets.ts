import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { CloseCode, handleProtocols, type Server } from 'graphql-ws';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Gauge } from 'prom-client';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../config.ts';
import { Metrics } from '../metrics.ts';
import type { Edge } from '../http/edge.ts';
import { answerOnSocket } from '../http/raw-reply.ts';
import { requestIdOf } from '../http/request-id.ts';
import { withJitter } from '../jitter.ts';
import { liveOperations, type SocketState } from './live-operations.ts';
import { GraphqlSocket } from './live-socket.ts';

export const GRAPHQL_PATH = '/graphql';
const MAX_MESSAGE_BYTES = 64 * 1024;
/** In this process. */
const MAX_SOCKETS_PER_OWNER = 20;
/** A socket is cut at the second ping in a row that finds no sign of life, so within 24 s. */
const PING_MS = 12_000;
const GOING_AWAY = 1001;

/**
 * Asks who a socket belongs to.
 * @param refused called once, later, when the answer is not true any more
 * @throws ApiError when nobody may come in with this
 */
export type Admit = (
  authorization: string | undefined,
  refused: () => void,
) => Promise<{ owner: string; release: () => void }>;

/** Subscriptions, queries and mutations over graphql-ws, on the path of GraphQL over HTTP. */
@Injectable()
export class GraphqlSockets implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly sockets = new Set<GraphqlSocket>();
  private readonly requestIds = new WeakMap<IncomingMessage, string>();
  private readonly byState = new WeakMap<SocketState, { socket: GraphqlSocket; onClosed: () => void }>();
  private readonly ofOwner = new Map<string, number>();
  private readonly webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false, // its memory, 100 kB and more a socket, costs more than the bytes it saves
    clientTracking: false,
    handleProtocols,
  });
  private operations: Server<SocketState>;
  private admit: Admit | undefined;
  private pings: NodeJS.Timeout | undefined;
  private isClosing = false;

  constructor(
    private readonly config: Config,
    private readonly host: HttpAdapterHost,
    private readonly schemaHost: GraphQLSchemaHost,
    metrics: Metrics,
  ) {
    const { sockets } = this;
    metrics.registry.registerMetric(
      new Gauge({
        name: 'graphql_sockets_open',
        help: 'WebSockets of GraphQL open in this process.',
        registers: [],
        collect() {
          this.set(sockets.size);
        },
      }),
    );
  }

  /** Who guards the door; without it nobody comes in. */
  guardedBy(admit: Admit): void {
    this.admit = admit;
  }

  onApplicationBootstrap(): void {
    this.operations = liveOperations({
      schema: this.schemaHost.schema,
      introspection: this.config.graphqlIntrospection,
      admit: (state) => this.letIn(state),
    });
    this.webSockets.on('headers', (headers, request) => headers.push(`x-request-id: ${this.requestIds.get(request)}`));
    this.webSockets.on('wsClientError', ({ message }, socket, request) => {
      answerOnSocket(socket, new ApiError('bad_request', { message }), this.requestIds.get(request)!);
    });
    const { edge } = this.host.httpAdapter as unknown as { edge: Edge }; // our own adapter: http-app.ts
    edge.upgrades.claim(GRAPHQL_PATH, (request, socket, head) => this.open(request, socket, head));
    this.pings = setInterval(() => this.sockets.forEach((socket) => socket.ping()), PING_MS).unref();
  }

  /** Clients come back at once, so they are sent away one by one. */
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
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.serve(webSocket, { requestId, authorization: request.headers.authorization });
    });
  }

  private serve(webSocket: WebSocket, state: SocketState): void {
    const entry = { onClosed: () => {} };
    const socket = new GraphqlSocket(webSocket, this.operations, state, () => {
      this.sockets.delete(socket);
      entry.onClosed();
    });
    this.sockets.add(socket);
    this.byState.set(state, Object.assign(entry, { socket }));
  }

  private async letIn(state: SocketState): Promise<boolean> {
    const entry = this.byState.get(state);
    if (!entry || !this.admit) return false;
    try {
      const refused = () => entry.socket.close(CloseCode.Forbidden, 'Forbidden');
      const { owner, release } = await this.admit(state.authorization, refused);
      if (!this.sockets.has(entry.socket)) {
        release(); // the client left while we were asking
        return false;
      }
      entry.onClosed = () => {
        release();
        this.countOut(owner);
      };
      if (this.countIn(owner) <= MAX_SOCKETS_PER_OWNER) return true;
      entry.socket.close(CloseCode.TooManyInitialisationRequests, 'Too many sockets of this API key');
      return false;
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return false;
      throw error;
    }
  }

  private countIn(owner: string): number {
    const count = (this.ofOwner.get(owner) ?? 0) + 1;
    this.ofOwner.set(owner, count);
    return count;
  }

  private countOut(owner: string): void {
    const count = (this.ofOwner.get(owner) ?? 0) - 1;
    if (count > 0) this.ofOwner.set(owner, count);
    else this.ofOwner.delete(owner);
  }
}
