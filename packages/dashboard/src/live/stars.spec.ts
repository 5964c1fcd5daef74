import { jest } from '@jest/globals';
import { clearTasks, putTasks, taskRow, type TaskRow } from './task-store.ts';

Reflect.deleteProperty(globalThis, 'BroadcastChannel'); // an open one would keep the test from its end
const { setStar } = await import('./stars.ts');

const OUTPUT = { id: 'file_a_0', index: 0, kept: false, collection: null } as TaskRow['outputs'][number];
const ROW = { taskId: 'task_a', sequence: 3, status: 'SUCCEEDED', outputs: [OUTPUT], kept: false } as TaskRow;
const FILE = { taskId: 'task_a', output: OUTPUT };

interface Call {
  name: string;
  answer(body: object): void;
}

const calls: Call[] = [];
let arrived: () => void;

/** The next call, which is not answered yet. */
async function next(): Promise<Call> {
  while (calls.length === 0) await new Promise<void>((resolve) => (arrived = resolve));
  return calls.shift()!;
}

const sent = (name: string): object => ({ data: { [name]: { id: OUTPUT.id } } });
const read = (sequence: number, kept: boolean): object => {
  const { outputs, ...task } = ROW;
  return { data: { task: { ...task, sequence, kept, result: { outputs: [{ ...outputs[0], kept }] } } } };
};
const refusal = { errors: [{ message: 'No room.', extensions: { code: 'kept_quota_exceeded' } }] };
const isLit = () => taskRow('task_a')?.outputs[0]?.kept;
const press = () => setStar(FILE, { kept: !isLit(), collection: null });

beforeEach(() => {
  jest.spyOn(globalThis, 'fetch').mockImplementation(
    (_url, init) =>
      new Promise((resolve) => {
        const { operationName: name } = JSON.parse(String(init?.body)) as { operationName: string };
        const headers = { 'content-type': 'application/json' };
        calls.push({ name, answer: (body) => resolve(new Response(JSON.stringify(body), { headers })) });
        arrived?.();
      }),
  );
  putTasks([ROW]);
});
afterEach(() => {
  clearTasks();
  jest.restoreAllMocks();
});

describe('the star', () => {
  it('is given up by a press before the answer to the last one, whatever was read meanwhile', async () => {
    const first = press();
    const keep = await next();
    putTasks([{ ...ROW }]); // a list or the feed that was read before
    expect([keep.name, isLit()]).toEqual(['KeepFile', true]);
    const second = press();
    expect(isLit()).toBe(false);
    keep.answer(sent('keepFile'));
    const giveUp = await next();
    expect([giveUp.name, isLit()]).toEqual(['UnkeepFile', false]);
    giveUp.answer(sent('unkeepFile'));
    (await next()).answer(read(5, false));
    await Promise.all([first, second]);
    expect(isLit()).toBe(false);
  });

  it('is as the service has it after two refusals, also where the task cannot be read', async () => {
    const first = press();
    const keep = await next();
    const second = press();
    keep.answer(refusal);
    (await next()).answer(refusal);
    (await next()).answer(refusal);
    await Promise.all([first, second]);
    expect(isLit()).toBe(false);
  });

  it('stays where it was taken, though the task cannot be read', async () => {
    const pressed = press();
    (await next()).answer(sent('keepFile'));
    (await next()).answer(refusal);
    await pressed;
    expect(isLit()).toBe(true);
  });
});
