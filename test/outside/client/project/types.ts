// Compiled, never run: what must not compile is marked, and the compiler complains about a mark without an error.
import { Darkroom, type DarkroomEvent, type Task } from '@darkroom/client';

export async function wrong(darkroom: Darkroom, task: Task, event: DarkroomEvent): Promise<void> {
  await darkroom.generate({ model: 'sora-2', prompt: 'A wave', duration: 8 });
  // The service checks which parameters a model has: an operator may have declared one of any name.
  await darkroom.generate({ model: 'my-own', prompt: 'A wave', x_warmth: 2 });
  // @ts-expect-error no parameter of any model
  await darkroom.generate({ model: 'sora-2', prompt: 'A wave', size: 2 });
  // @ts-expect-error the prompt is missing
  await darkroom.generate({ model: 'gpt-image-2' });
  // @ts-expect-error an item of a batch is typed as well
  await darkroom.batches.create([{ model: 'sora-2', prompt: 'A wave', size: 2 }]);
  // @ts-expect-error only a succeeded task has a result
  void task.result;
  if (task.status === 'failed') void task.error.retryable;
  // @ts-expect-error a failed task has an error, no result
  if (event.type === 'task.failed') void event.data.result;
}
