import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FastifyReply } from 'fastify';
import { IsNull, Not, Repository } from 'typeorm';
import type { Caller } from '../auth/access/caller.ts';
import { ApiError } from '../errors/api-error.ts';
import { stopCounting } from '../platform/http/admission/load-bounds.ts';
import { counter } from '../platform/observe/measuring/declare.ts';
import { readIdempotencyKey, type ReservedKey } from '../tasks/acts/idempotency.ts';
import { TasksService } from '../tasks/acts/tasks.service.ts';
import { Call, newCallId } from './call.entity.ts';
import { Delivery } from './delivery.ts';
import { JoinLeases } from './join-leases.ts';
import { OpenCalls } from './open-calls.ts';
import { GiveUpCall } from './sql/give-up-call.ts';
import { JoinCall } from './sql/join-call.ts';
import { type EqualCall, JoinEqualCall } from './sql/join-equal-call.ts';
import { WriteCalls } from './sql/write-calls.ts';

export interface CallRequest {
  caller: Caller;
  reply: FastifyReply;
  /** The route, such as `/v1/images/generations`. */
  path: string;
  /** What `fingerprintOf` returned. */
  fingerprint: string;
  /** Whether the response waits for the end of the task. */
  waits: boolean;
  /**
   * Identifies the MCP message that made the call. Missing for other interfaces: only clients of MCP may cancel a call
   * and leave its connection open.
   */
  message?: string;
}

/**
 * Stores the task of a request.
 * @param reserveKey call it when the request is valid, and store the task under the key that it returns
 */
export type CreateTask = (reserveKey: () => Promise<ReservedKey>) => Promise<{ taskId: string; replayed: boolean }>;

/** A call whose task is stored. */
export interface StartedCall {
  taskId: string;
  /** Whether an earlier attempt created the task. */
  isReplay: boolean;
  /** Whether the connection of an earlier attempt still seems open. Its client may wait for the same task. */
  isShared: boolean;
  /** Aborts when the service stops; null if the response does not wait. */
  stopping: AbortSignal | null;
  /** null for a call with an Idempotency-Key: the key finds the task without a row in `calls`. */
  delivery: Delivery | null;
}

type FoundCall = Omit<StartedCall, 'stopping'>;

const ALONE = { isShared: false, delivery: null };

/** SQL: until when equal calls get the same failure. Each call that gets it starts the 10 seconds again. */
const FAILURE_KEPT_UNTIL = `now() + interval '10 seconds'`;

/** No client can send such an idempotency key: the keys of clients are printable. */
const reservedKey = (callId: string): string => `\u0001${callId}`;

const joinedCalls = counter(
  'darkroom_calls_joined_total',
  'Retries that got the task of an earlier attempt instead of a new one.',
);

/**
 * Calls that are answered with a task or its outcome. A client repeats such a call when its connection breaks. So a
 * call without an Idempotency-Key is recorded before its task, and a retry gets the task of an earlier attempt.
 */
@Injectable()
export class CallsService {
  private readonly logger = new Logger('calls');

  constructor(
    private readonly tasks: TasksService,
    private readonly open: OpenCalls,
    private readonly joins: JoinCall,
    private readonly equalJoins: JoinEqualCall,
    private readonly gaveUp: GiveUpCall,
    private readonly leases: JoinLeases,
    private readonly writes: WriteCalls,
    @InjectRepository(Call) private readonly rows: Repository<Call>,
  ) {}

  /**
   * Finds the task of an earlier attempt, or creates one. With an Idempotency-Key, only the key decides. Without one, a
   * call that an OpenAI client marks as a retry (`x-stainless-retry-count`) joins an equal call whose outcome was not
   * delivered. Any other call may be an unmarked retry. It joins an equal call that was cut off, was given up, or has
   * just failed.
   */
  async start(request: CallRequest, create: CreateTask): Promise<StartedCall> {
    const { caller, reply } = request;
    const stopping = request.waits ? this.open.admit(caller.apiKeyId, reply) : null;
    const key = readIdempotencyKey(reply.request.headers['idempotency-key'] as string | undefined);
    const found = key === null ? await this.joinOrBegin(request, create) : await this.withKey(request, key, create);
    if (request.waits) stopCounting(reply.request);
    return { ...found, stopping };
  }

  private async withKey({ caller, fingerprint }: CallRequest, key: string, create: CreateTask): Promise<FoundCall> {
    const first = await this.tasks.firstResponse(caller.apiKeyId, key, fingerprint);
    if (first) return { ...ALONE, taskId: first.task_id, isReplay: true };
    const { taskId, replayed } = await create(async () => ({ key, requestHash: fingerprint }));
    return { ...ALONE, taskId, isReplay: replayed };
  }

  private async joinOrBegin(request: CallRequest, create: CreateTask): Promise<FoundCall> {
    const earlier = await this.earlierOf(request);
    return earlier ? this.join(request, earlier, create) : this.begin(request, create);
  }

  private async earlierOf({ caller, reply, fingerprint, message }: CallRequest): Promise<EqualCall | null> {
    const retry = retryCountOf(reply.request.headers['x-stainless-retry-count']);
    if (retry === 0) return this.equalJoins.join(caller.apiKeyId, fingerprint, message ?? null);
    const call = await this.joins.join(caller.apiKeyId, fingerprint, retry);
    return call && { ...call, retry, is_open: false };
  }

  /**
   * Stores the row of the call before the task. If the process dies in between, a retry finds the row and creates the
   * task.
   */
  private async begin(request: CallRequest, create: CreateTask): Promise<FoundCall> {
    const { caller, reply, path, fingerprint, message = null } = request;
    const id = newCallId();
    let delivery: Delivery | null = null;
    try {
      const { taskId } = await create(async () => {
        await this.writes.begin({ id, apiKeyId: caller.apiKeyId, path, fingerprint, message });
        this.holdLease(id, 0, reply);
        delivery = this.observe(request, id, 0);
        // If the client is gone already, its retry may have come before the row was stored, and have created a task of
        // its own.
        if (reply.raw.destroyed) throw new ApiError('request_timeout', { message: 'The client has disconnected.' });
        return { key: reservedKey(id), requestHash: fingerprint };
      });
      void this.record('attached', this.writes.attach(id, taskId));
      return { ...ALONE, taskId, isReplay: false, delivery };
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status < 500 && !reply.raw.destroyed;
      if (isRefused && delivery) await this.rows.delete({ id });
      throw error;
    }
  }

  private async join(
    request: CallRequest,
    { id, task_id, retry, is_open: isShared }: EqualCall,
    create: CreateTask,
  ): Promise<FoundCall> {
    const { reply, fingerprint } = request;
    const delivery = this.observe(request, id, retry);
    this.holdLease(id, retry, reply);
    joinedCalls.inc();
    const joined = { isReplay: true, isShared, delivery };
    if (task_id !== null) return { ...joined, taskId: task_id };
    const { taskId } = await create(async () => ({ key: reservedKey(id), requestHash: fingerprint }));
    void this.record('attached', this.writes.attach(id, taskId));
    return { ...joined, taskId };
  }

  /**
   * Records that a client no longer waits for its call, although its connection is open.
   * @param message as in `CallRequest`
   */
  giveUp(apiKeyId: string, message: string): Promise<void> {
    return this.gaveUp.giveUp(apiKeyId, message);
  }

  /**
   * Whether the call of this task was abandoned: no client got its outcome, and no client waits for it.
   * @param fingerprint as `fingerprintOf` returned it
   */
  isAbandoned(apiKeyId: string, fingerprint: string, taskId: string): Promise<boolean> {
    return this.rows.existsBy(abandoned(apiKeyId, fingerprint, taskId));
  }

  /** Deletes the call if it is still abandoned, so that no equal call joins it and gets the cancelled task. */
  async forgetAbandoned(apiKeyId: string, fingerprint: string, taskId: string): Promise<void> {
    await this.rows.delete(abandoned(apiKeyId, fingerprint, taskId));
  }

  private holdLease(id: string, retry: number, reply: FastifyReply): void {
    this.leases.hold(id, retry);
    reply.raw.once('close', () => this.leases.release(id, retry));
  }

  /** @param retry 0 for the first attempt */
  private observe({ reply, message }: CallRequest, id: string, retry: number): Delivery {
    const mine = { id, joined_retry: retry };
    const left = { hung_up_at: () => 'now()', joined_until: null };
    let written: Promise<unknown> = Promise.resolve();
    const writeLost = () => this.rows.update(mine, { ...left, delivered_at: null });
    return new Delivery(reply, {
      // An equal call may join a call that still has a message, because the client of that call may have given it up. A
      // call that is being answered must not be joined, so its message is deleted.
      answering: async () => {
        if (message !== undefined) await this.record('answering', this.rows.update(mine, { message: null }));
      },
      delivered: () => void this.record('delivered', (written = this.writes.deliver(id, retry))),
      // `mine` matches no row once a later attempt holds the call, or its client gave it up.
      hungUp: () => this.record('hung_up', this.rows.update({ ...mine, delivered_at: IsNull() }, left)),
      // Waits for the write of `delivered`, even if that write fails.
      lost: () => void this.record('lost', written.then(writeLost, writeLost)),
      failed: () => this.record('failed', this.rows.update({ id }, { failed_until: () => FAILURE_KEPT_UNTIL })),
    });
  }

  /**
   * Logs a failed write. The answer to the call does not depend on it. But a repeated call may then get an outcome that
   * was already delivered, or a new task.
   */
  private async record(what: string, written: Promise<unknown>): Promise<void> {
    await written.catch((err: unknown) => this.logger.warn({ event: 'call.record_failed', what, err }));
  }
}

function retryCountOf(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^[0-9]{1,4}$/.test(header) ? Number(header) : 0;
}

const abandoned = (apiKeyId: string, fingerprint: string, taskId: string) => ({
  api_key_id: apiKeyId,
  fingerprint: Buffer.from(fingerprint, 'hex'),
  task_id: taskId,
  hung_up_at: Not(IsNull()),
  delivered_at: IsNull(),
  joined_until: IsNull(),
});
