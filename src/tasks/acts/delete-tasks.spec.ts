import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import type { Storage } from '../../platform/storage/storage.ts';
import { DeleteTasks } from './delete-tasks.ts';
import type { DeleteTask } from '../sql/delete-task.ts';
import type { TaskCache } from '../queue/task-cache.ts';
import type { TasksService } from './tasks.service.ts';

const deletionWith = (deleteAll: () => Promise<void>) =>
  new DeleteTasks(
    { cancel: async () => ({ task: { id: 'task_a' } }) } as unknown as TasksService,
    { delete: async () => true } as unknown as DeleteTask,
    { drop: () => undefined } as unknown as TaskCache,
    { deleteAll } as unknown as Storage,
  ).delete('key_a', 'task_a');

describe('the deletion of a task', () => {
  it('succeeds while the storage is away: the purge deletes the files', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    await deletionWith(() => Promise.reject(new Error('The storage is away.')));
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ event: 'task.files_not_deleted', task_id: 'task_a' }));
    warn.mockRestore();
  });
});
