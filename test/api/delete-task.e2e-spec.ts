import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import type { Config } from '../../src/platform/config/config.ts';
import type { Sql, Statement } from '../../src/platform/database/sql.ts';
import { DiskStorage } from '../../src/platform/storage/disk.storage.ts';
import { Purge } from '../../src/tasks/queue/purge.ts';
import { PurgeRows } from '../../src/tasks/sql/purge-rows.ts';
import { joinSecondProcess, joinService, type SharedService } from '../support/service.ts';
import { aCat, aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { Receiver, verified } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

describe('DELETE /v1/tasks/{task_id}', () => {
  let service: SharedService;
  /** Another process of the same deployment. */
  let other: string;
  let database: Client;
  beforeAll(async () => {
    service = await joinService();
    other = await joinSecondProcess(service);
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await service?.close();
  });

  const remove = (taskId: string, api: Api = service.api) =>
    api.call<{ id: string; object: string; deleted: boolean }>('DELETE', `/v1/tasks/${taskId}`);
  const codeOf = async (path: string, method = 'GET', api: Api = service.api) => {
    const { status, body } = await api.call<ErrorBody>(method, path);
    return [status, body.error?.code];
  };
  const NOT_FOUND = [404, 'task_not_found'];

  it('deletes a finished task with its files: every read is 404 at once', async () => {
    const { body: task } = await service.api.create({ ...aCat, n: 2 }, { prefer: 'wait=60' });
    const { task_id: id } = task;
    const link = task.result!.outputs[0]!.url;
    expect((await fetch(link)).status).toBe(200);
    expect(existsSync(`${service.env.DATA_DIR}/files/${id}`)).toBe(true);

    const { status, body } = await remove(id);
    expect(status).toBe(200);
    expect(body).toEqual({ id, object: 'task.deleted', deleted: true });
    expect(await codeOf(`/v1/tasks/${id}`)).toEqual(NOT_FOUND);
    expect(await codeOf(`/v1/tasks/${id}?wait=5`)).toEqual(NOT_FOUND);
    expect(await codeOf(`/v1/tasks/${id}/events`)).toEqual(NOT_FOUND);
    expect(await codeOf(`/v1/tasks/${id}/cancel`, 'POST')).toEqual(NOT_FOUND);
    expect(await codeOf(`/v1/tasks/${id}`, 'DELETE')).toEqual(NOT_FOUND);
    const list = await service.api.get<{ data: TaskBody[] }>('/v1/tasks');
    expect(list.body.data.map(({ task_id }) => task_id)).not.toContain(id);
    const child = await service.api.create<ErrorBody>({ ...aCat, parent_task_id: id });
    expect(child.body.error.param).toBe('parent_task_id');
    expect((await fetch(link)).status).toBe(410);
    expect(existsSync(`${service.env.DATA_DIR}/files/${id}`)).toBe(false);
  });

  it('is 404 for an unknown id and for a task of another API key, which stays', async () => {
    const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
    const stranger = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    expect(await codeOf(`/v1/tasks/${body.task_id}`, 'DELETE', stranger)).toEqual(NOT_FOUND);
    expect(await codeOf('/v1/tasks/nonsense', 'DELETE')).toEqual(NOT_FOUND);
    expect((await service.api.get(`/v1/tasks/${body.task_id}`)).status).toBe(200);
  });

  it('cancels an unfinished task first; its event is still sent, and tried again, although the record is gone', async () => {
    const answers = [503, 200];
    const receiver = await Receiver.start((_, response) => void response.writeHead(answers.shift() ?? 200).end());
    try {
      const tenant = new Api(service.baseUrl, (await anotherKey(service.api)).key);
      const { secret } = await new WebhookClient(tenant).endpoint(receiver.url);
      const { body: task } = await tenant.create(aHang);
      await tenant.until(task.task_id, 'running');
      expect((await remove(task.task_id, tenant)).status).toBe(200);
      expect(await codeOf(`/v1/tasks/${task.task_id}`, 'GET', tenant)).toEqual(NOT_FOUND);
      const [first, second] = await receiver.until(2);
      for (const received of [first!, second!]) {
        expect(verified(received, secret)).toMatchObject({
          type: 'task.failed',
          data: { task_id: task.task_id, status: 'failed', error: { code: 'task_cancelled' } },
        });
      }
    } finally {
      await receiver.stop();
    }
  });

  it('frees the place of a running task in its worker and its key', async () => {
    const tenant = new Api(service.baseUrl, (await anotherKey(service.api, { limits: { max_running: 1 } })).key);
    const { body: hanging } = await tenant.create(aHang);
    await tenant.until(hanging.task_id, 'running');
    const { body: next } = await tenant.create(aFailure);
    await remove(hanging.task_id, tenant);
    expect((await tenant.untilFinal(next.task_id)).error?.code).toBe('content_policy_violation');
  });

  it('is seen by another process that has the task in memory', async () => {
    const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
    const path = `/v1/tasks/${body.task_id}`;
    const there = new Api(other, service.api.key);
    expect((await there.get(path)).status).toBe(200);
    await remove(body.task_id);
    await eventually('the other process', async () => (await there.get(path)).status === 404);
  });

  it('ends the streams of another process with the cancelled task, and its long polls', async () => {
    for (const status of ['running', 'queued']) {
      const limits = { max_running: status === 'running' ? 0 : 1 };
      const { key } = await anotherKey(service.api, { limits });
      const [here, there] = [new Api(service.baseUrl, key), new Api(other, key)];
      if (status === 'queued') await here.until((await here.create(aHang)).body.task_id, 'running');
      const { body } = await here.create(aHang);
      await here.until(body.task_id, status);
      const one = await EventReader.open(other, `/v1/tasks/${body.task_id}/events`, key);
      const all = await EventReader.open(other, '/v1/events', key);
      await one.until('the present state', (events) => events.length > 0);
      const polled = there.get<ErrorBody>(`/v1/tasks/${body.task_id}?wait=30`);
      await remove(body.task_id, here);
      await one.ended;
      expect(one.events.at(-1)?.data).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
      await all.until('the end', () => all.of(body.task_id).at(-1)?.status === 'failed');
      all.close();
      // The poll ends with the cancel, and the deletion may come before the read.
      expect(['task_cancelled', 'task_not_found']).toContain((await polled).body.error?.code);
    }
  });

  it('leaves the answer of its Idempotency-Key: a repeated request makes no second task', async () => {
    const key = { 'idempotency-key': 'deleted' };
    const first = await service.api.create(aFailure, key);
    await service.api.untilFinal(first.body.task_id);
    await remove(first.body.task_id);
    const again = await service.api.create(aFailure, key);
    expect([again.status, again.headers.get('idempotent-replayed'), again.text]).toEqual([201, 'true', first.text]);
    const reused = await service.api.create<ErrorBody>(aCat, key);
    expect(reused.body.error.code).toBe('idempotency_key_reused');
  });

  it('answers a creation that waits for the deleted task with its last state that was read', async () => {
    const { key } = await anotherKey(service.api);
    const tenant = new Api(service.baseUrl, key);
    const waiting = tenant.create(aHang, { prefer: 'wait=30' });
    const id = await eventually('the task', async () => {
      const { body } = await tenant.get<{ data: TaskBody[] }>('/v1/tasks?status=running');
      return body.data[0]?.task_id;
    });
    await remove(id, tenant);
    const { status, body } = await waiting;
    expect([status, body.task_id]).toEqual([201, id]);
    // The wait ends with the cancel, and the deletion may come before the read.
    expect(['failed', 'queued']).toContain(body.status);
  });

  it('deletes the record five minutes after the end, with what a late worker has written', async () => {
    const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
    expect((await remove(body.task_id)).status).toBe(200);
    const folder = `${service.env.DATA_DIR}/files/${body.task_id}`;
    await mkdir(folder);
    await writeFile(`${folder}/1-0.png`, 'late');
    const rows = async () => (await database.query('select * from tasks where id = $1', [body.task_id])).rows;
    const [row] = await rows();
    expect(row.purge_after.getTime() - row.completed_at.getTime()).toBe(300_000);
    const sql = {
      run: async (statement: Statement, values: unknown[] = []) =>
        (await database.query({ text: statement.text, values })).rows,
      transaction: (work: (tx: Client) => Promise<void>) => work(database),
    } as unknown as Sql;
    const config = { role: 'worker', fileRetentionDays: 1 } as Config;
    const purge = new Purge(config, new DiskStorage(`${service.env.DATA_DIR}/files`), new PurgeRows(sql));
    await database.query(`update tasks_done set purge_after = now() where id = $1`, [body.task_id]);
    jest.spyOn(Logger.prototype, 'log').mockReturnValue(undefined);
    purge.onApplicationBootstrap();
    try {
      await eventually('the purge', async () => (await rows()).length === 0);
      expect(existsSync(folder)).toBe(false);
    } finally {
      await purge.onApplicationShutdown();
      jest.restoreAllMocks();
    }
  });
});
