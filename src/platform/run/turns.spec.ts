import { Turns } from './turns.ts';

const never = new AbortController().signal;
const pause = () => new Promise((resolve) => setImmediate(resolve));

it('runs one piece of work at a time, and gives each owner its turn', async () => {
  const turns = new Turns();
  const done: string[] = [];
  let running = 0;
  const work = (name: string) => async () => {
    expect(++running).toBe(1);
    await pause();
    running -= 1;
    done.push(name);
  };
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => turns.take(name[0] as string, never, work(name)));
  await Promise.all(all);
  expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

it('leaves the line on an abort, and goes on after a failure', async () => {
  const turns = new Turns();
  const abort = new AbortController();
  const failing = turns.take('a', never, async () => {
    await pause();
    throw new Error('broken');
  });
  const leaving = turns.take('a', abort.signal, async () => 'never');
  const staying = turns.take('b', never, async () => 'done');
  abort.abort(new Error('left'));
  await expect(leaving).rejects.toThrow('left');
  await expect(failing).rejects.toThrow('broken');
  expect(await staying).toBe('done');
  expect(await turns.take('a', never, async () => 'free')).toBe('free');
});

it('runs no more of one owner than it may, and others meanwhile', async () => {
  const turns = new Turns(3, { ofOwner: 2 });
  const leave = [await turns.enter('a', never), await turns.enter('a', never)];
  const started: string[] = [];
  const wait = (name: string) => turns.enter(name[0] as string, never).then((end) => (started.push(name), end));
  const waiting = ['a1', 'a2', 'b1'].map(wait);
  await pause();
  expect(started).toEqual(['b1']);
  leave[0]!();
  await pause();
  expect(started).toEqual(['b1', 'a1']);
  leave[1]!();
  for (const each of waiting) (await each)();
  expect(started).toEqual(['b1', 'a1', 'a2']);
  for (let count = 0; count < 3; count += 1) leave.push(await turns.enter(`owner ${count}`, never));
});

it('keeps turns for owners that have none', async () => {
  const turns = new Turns(4, { ofOwner: 2, kept: 1 });
  const leave = [await turns.enter('a', never), await turns.enter('a', never), await turns.enter('b', never)];
  let isStarted = false;
  const second = turns.enter('b', never).then((end) => ((isStarted = true), end));
  await pause();
  expect(isStarted).toBe(false);
  leave.push(await turns.enter('c', never));
  leave[0]!(); // now c has the turn that was kept, and this one is kept
  await pause();
  expect(isStarted).toBe(false);
  leave[3]!();
  (await second)();
  for (const end of leave.slice(1, 3)) end();
});
