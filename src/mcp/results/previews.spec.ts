import { Previews } from './previews.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';

it('previews for a client that has gone are no failure', async () => {
  const task = {
    api_key_id: 'key_1',
    expires_at: new Date(Date.now() + 60_000),
    files_expire_at: new Date(Date.now() + 60_000),
    result: [{ id: 'file_1', type: 'image', storage_key: 'a/b.png' }],
  } as unknown as ShownTask;
  const previews = new Previews({ open: () => Promise.reject(new Error('not read')) } as never);
  expect(await previews.of(task, AbortSignal.abort())).toEqual([]);
});
