import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { ComfyuiEngine, type Graph } from './comfyui-engine.ts';
import {
  answer,
  type Fault,
  faultsOf,
  matches,
  ok,
  read,
  refusal,
  type Reply,
  type SeenRequest,
} from './comfyui-http.ts';

export type { Fault } from './comfyui-http.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A ComfyUI server on loopback: queue, runs, socket, uploads and files. A test can plan faults. */
export class ComfyuiStub {
  readonly engine = new ComfyuiEngine((clientId, type, data) => this.publish(clientId, type, data));
  readonly requests: SeenRequest[] = [];
  /** The ids of the queued runs, in order. An id that occurs twice was submitted twice. */
  readonly submits: string[] = [];
  /** Uploaded images by the names that LoadImage nodes use. */
  readonly uploads = new Map<string, Buffer>();
  /** Whether the server has `/api/jobs`, as newer servers do. */
  modern = true;
  /** Whether the server ignores the given id and generates one, as old servers do. */
  ignoresPromptId = false;
  /** Model files that the server does not have. */
  readonly missing = new Set<string>();
  refusesSockets = false;
  socketCount = 0;
  /** The bearer token that requests need, as with a proxy in front of the server; null: none. */
  key: string | null = null;
  private readonly faults = new Map<string, Fault[]>();
  private readonly sockets = new Map<string, WebSocket>();
  private readonly connections = new Set<Socket>();
  private readonly webSockets = new WebSocketServer({ noServer: true });
  private readonly server = createServer((request, response) => void this.serve(request, response));
  private number = 0;
  private port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    this.server.on('connection', (socket) => {
      this.connections.add(socket);
      socket.on('close', () => this.connections.delete(socket));
    });
    this.server.on('upgrade', (request, socket, head) => {
      const url = new URL(request.url ?? '/', 'http://stub');
      if (this.refusesSockets || !this.isAllowed(request)) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      this.webSockets.handleUpgrade(request, socket, head, (ws) => this.welcome(ws, url.searchParams.get('clientId')));
    });
    await this.listen();
    return this;
  }

  async stop(): Promise<void> {
    this.engine.close();
    await this.hangUp();
  }

  /**
   * Acts like a killed process: connections break, and the queue, the history and the current run are lost. Files stay.
   */
  async kill(): Promise<void> {
    this.engine.forget();
    await this.hangUp();
  }

  /** Listens; after `kill` at the same address as before. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  private async hangUp(): Promise<void> {
    for (const socket of this.connections) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /**
   * Plans faults for the next requests of a route.
   * @param route such as `POST /prompt`; `*` matches one path segment
   */
  next(route: string, ...faults: Fault[]): void {
    this.faults.set(route, [...(this.faults.get(route) ?? []), ...faults]);
  }

  dropSockets(): void {
    for (const socket of this.sockets.values()) socket.terminate();
  }

  private welcome(socket: WebSocket, clientId: string | null): void {
    this.socketCount += 1;
    const sid = clientId ?? `socket-${this.socketCount}`;
    this.sockets.set(sid, socket);
    socket.on('close', () => this.sockets.get(sid) === socket && this.sockets.delete(sid));
    this.publish(sid, 'status', { status: { exec_info: { queue_remaining: this.engine.pending.length } }, sid });
    // A client that reconnects during its run gets only the current node.
    if (this.engine.running?.clientId === sid) this.publish(sid, 'executing', { node: 'sample' });
    socket.send(Buffer.from([0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3])); // a preview image
  }

  private publish(clientId: string | undefined, type: string, data: Record<string, unknown>): void {
    this.sockets.get(clientId ?? '')?.send(JSON.stringify({ type, data }));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(request);
    const url = new URL(request.url ?? '/', 'http://stub');
    const { method = 'GET' } = request;
    const { authorization: _secret, ...headers } = request.headers;
    const json = /json/.test(request.headers['content-type'] ?? '') ? JSON.parse(body.toString()) : null;
    const bodyHash = createHash('sha256').update(body).digest('hex');
    this.requests.push({ method, path: url.pathname, headers, bodyHash, json, at: Date.now() });

    const fault = this.faultOf(`${method} ${url.pathname}`);
    if (fault === 'reset') return void request.socket.destroy();
    if (fault === 'hang') return;
    if (fault === 'junk') return void response.end('<html>It works!</html>');
    if (fault && fault !== 'lose reply') return answer(response, fault.status, fault.body ?? {}, fault.headers);
    if (!this.isAllowed(request)) return answer(response, 401, { detail: 'no' });
    if (method === 'GET' && url.pathname === '/view') return this.view(url, response);
    const reply =
      url.pathname === '/upload/image'
        ? await this.upload(body, request.headers['content-type'] ?? '')
        : this.route(method, url.pathname, json);
    if (fault === 'lose reply') return void request.socket.destroy();
    answer(response, reply.status, reply.body);
  }

  private faultOf(route: string): Fault | undefined {
    const own = [...this.faults].find(([key, faults]) => faults.length > 0 && matches(key, route));
    return own?.[1].shift();
  }

  private isAllowed(request: IncomingMessage): boolean {
    return this.key === null || request.headers.authorization === `Bearer ${this.key}`;
  }

  private route(method: string, path: string, json: Record<string, unknown> | null): Reply {
    const { engine } = this;
    const [, first, second, third, fourth] = path.split('/');
    if (method === 'POST' && path === '/prompt') return this.prompt(json ?? {});
    if (method === 'GET' && first === 'history') {
      const entry = engine.history[second ?? ''];
      return ok(entry ? { [second ?? '']: entry } : {});
    }
    if (method === 'GET' && path === '/queue') {
      const items = (list: typeof engine.pending) => list.map(({ number, id, graph }) => [number, id, graph, {}, []]);
      return ok({ queue_running: items(engine.running ? [engine.running] : []), queue_pending: items(engine.pending) });
    }
    if (method === 'POST' && path === '/queue') {
      for (const id of (json?.delete ?? []) as string[]) engine.delete(id);
      return ok();
    }
    if (method === 'POST' && path === '/interrupt') {
      if (json?.prompt_id === undefined || engine.running?.id === json.prompt_id) engine.interrupt();
      return ok();
    }
    if (this.modern && method === 'POST' && first === 'api' && second === 'jobs' && fourth === 'cancel') {
      return this.cancel(third ?? '');
    }
    return { status: 404, body: '404: Not Found' };
  }

  private cancel(id: string): Reply {
    const { engine } = this;
    if (engine.running?.id === id) engine.interrupt();
    else if (!engine.delete(id) && !engine.history[id]) return { status: 404, body: { error: 'Job not found' } };
    return ok({});
  }

  private prompt({ prompt, prompt_id: given, client_id: clientId }: Record<string, unknown>): Reply {
    if (typeof prompt !== 'object' || prompt === null) return refusal('no_prompt', 'No prompt provided');
    if (given !== undefined && !UUID.test(String(given))) return refusal('invalid_prompt_id', 'must be a UUID');
    const graph = prompt as Graph;
    const errors = Object.fromEntries(
      Object.entries(graph)
        .map(([id, node]) => [id, { class_type: node.class_type, errors: faultsOf(node.inputs, this) }] as const)
        .filter(([, { errors }]) => errors.length > 0),
    );
    if (Object.keys(errors).length > 0) {
      return refusal('prompt_outputs_failed_validation', 'Prompt outputs failed validation', errors);
    }
    const id = this.ignoresPromptId ? crypto.randomUUID() : String(given ?? crypto.randomUUID());
    this.submits.push(id);
    this.engine.put({ number: this.number++, id, graph, clientId: clientId as string | undefined });
    return ok({ prompt_id: id, number: this.number, node_errors: {} });
  }

  private async upload(body: Buffer, contentType: string): Promise<Reply> {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
    const image = form.get('image');
    if (!image || typeof image === 'string') return { status: 400, body: null };
    const subfolder = String(form.get('subfolder') ?? '');
    const name = (subfolder ? `${subfolder}/` : '') + image.name;
    this.uploads.set(name, Buffer.from(await image.arrayBuffer()));
    return ok({ name: image.name, subfolder, type: String(form.get('type') ?? 'input') });
  }

  private view(url: URL, response: ServerResponse): void {
    const { filename, subfolder = '', type = 'output' } = Object.fromEntries(url.searchParams);
    const bytes = this.engine.files.get(`${type}/${subfolder}/${filename}`);
    if (!bytes) return answer(response, 404, null);
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes.length });
    response.end(bytes);
  }
}
