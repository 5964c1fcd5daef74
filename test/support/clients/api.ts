import { text as textOf } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import request from 'supertest';
import { eventually, PATIENCE_MS } from '../wait.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';

/** The body as it was sent, because `call` parses it itself. */
const readText = callbackify((response: request.Response) => textOf(response as unknown as NodeJS.ReadableStream));

export interface Answer<Body = TaskBody> {
  status: number;
  headers: Headers;
  body: Body;
  text: string;
}

/** The task as a client reads it. */
export interface TaskBody {
  task_id: string;
  status: string;
  progress: number;
  completed_at: number;
  created_at: number;
  error?: { code: string; message: string; retryable: boolean; param?: string };
  result?: { outputs: OutputBody[]; expires_at: number };
  [field: string]: unknown;
}

export interface OutputBody {
  id: string;
  index: number;
  type: string;
  url: string;
  url_expires_at: number;
  content_type: string;
  size_bytes: number;
  width: number;
  height: number;
  duration?: number;
  sha256: string;
  seed: number | null;
}

export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string; request_id: string };
}

export const aCat = { model: 'gpt-image-2', prompt: 'A cat on a roof' };
/** A task that fails at once and renders nothing. */
export const aFailure = { model: 'gpt-image-2', prompt: '#fail:content_policy_violation' };
/** A task that runs until it is cancelled. */
export const aHang = { model: 'gpt-image-2', prompt: '#hang' };

const FINAL: ReadonlySet<string> = new Set(['succeeded', 'failed']);

/** A client of the public REST API, with one API key. */
export class Api {
  constructor(
    readonly baseUrl: string,
    readonly key: string | null,
  ) {}

  async call<Body = TaskBody>(
    method: string,
    path: string,
    body?: unknown,
    headers: object = {},
  ): Promise<Answer<Body>> {
    const { origin, pathname, search } = new URL(path, this.baseUrl);
    const send = request(origin)[method.toLowerCase() as Lowercase<Method>];
    const sending = send(pathname + search)
      .set({
        ...(this.key ? { authorization: `Bearer ${this.key}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      })
      .ok(() => true)
      .buffer(true)
      .parse(readText);
    if (body !== undefined) void sending.send(typeof body === 'string' ? body : JSON.stringify(body));
    const reply = await sending;
    const text = typeof reply.body === 'string' ? reply.body : ''; // an answer to HEAD has no body
    const isJson = /json(?!l)/.test(reply.get('content-type') ?? '') && text !== '';
    const answered = new Headers(Object.entries(reply.headers as Record<string, string>));
    return { status: reply.status, headers: answered, body: isJson ? JSON.parse(text) : (undefined as Body), text };
  }

  get<Body = TaskBody>(path: string, headers: object = {}): Promise<Answer<Body>> {
    return this.call<Body>('GET', path, undefined, headers);
  }

  create<Body = TaskBody>(body: unknown, headers: object = {}): Promise<Answer<Body>> {
    return this.call<Body>('POST', '/v1/generations', body, headers);
  }

  cancel(taskId: string): Promise<Answer> {
    return this.call('POST', `/v1/tasks/${taskId}/cancel`);
  }

  /** Polls the task until it has one of the statuses. */
  until(taskId: string, ...statuses: string[]): Promise<TaskBody> {
    return this.untilWithin(PATIENCE_MS, taskId, ...statuses);
  }

  untilFinal(taskId: string): Promise<TaskBody> {
    return this.until(taskId, 'succeeded', 'failed');
  }

  untilFinalWithin(taskId: string, withinMs: number): Promise<TaskBody> {
    return this.untilWithin(withinMs, taskId, 'succeeded', 'failed');
  }

  private untilWithin(withinMs: number, taskId: string, ...statuses: string[]): Promise<TaskBody> {
    const wanted = statuses.join(' or ');
    const poll = async () => {
      const { body } = await this.get(`/v1/tasks/${taskId}`);
      if (statuses.includes(body.status)) return body;
      if (!FINAL.has(body.status)) return false;
      throw new Error(`${taskId} has ${body.status}, and not ${wanted}: ${JSON.stringify(body.error)}`);
    };
    return eventually(`${taskId} to be ${wanted}`, poll, withinMs);
  }
}
