import { Backlog } from './backlog.ts';
import { LiveQueue } from './live-queue.ts';

it('ends the longest queues when all together are over the limit', async () => {
  const backlog = new Backlog();
  const queues = [10, 500, 20, 400].map((size) => {
    const queue = new LiveQueue({ read: async () => [] });
    queue.pushUnfinished(Array.from({ length: size }, (_, at) => `task_${at}`));
    backlog.add(queue);
    return queue;
  });
  backlog.shorten(930);
  expect(queues.map(({ size }) => size)).toEqual([10, 500, 20, 400]);
  backlog.shorten(450);
  expect(queues.map(({ size }) => size)).toEqual([10, 0, 20, 400]);
  await expect(queues[1]!.states.next()).rejects.toThrow('connect again');
  for (const queue of queues) queue.states.close();
});
