// Compiled, never run: what must not compile is marked, and the compiler complains about a mark without an error.
import { Darkroom, type DarkroomEvent, type Task } from '@darkroom/client';

export async function wrong(darkroom: Darkroom, task: Task, event: DarkroomEvent): Promise<void> {
  await darkroom.generate({ model: 'sora-2', prompt: 'A wave', duration: 8 });
  // @ts-expect-error a parameter of image models
  await darkroom.generate({ model: 'sora-2', prompt: 'A wave', n: 2 });
  // @ts-expect-error a parameter of video models
  await darkroom.generate({ model: 'gpt-image-2', prompt: 'A cat', duration: 8 });
  // @ts-expect-error gpt-image-2 alone has it
  await darkroom.generate({ model: 'nano-banana-2', prompt: 'A cat', quality: 'high' });
  // @ts-expect-error letter case counts
  await darkroom.generate({ model: 'seedance-2', prompt: 'A wave', resolution: '720P' });
  // @ts-expect-error no such model
  await darkroom.generate({ model: 'dall-e-1', prompt: 'A cat' });
  // @ts-expect-error the prompt is missing
  await darkroom.generate({ model: 'gpt-image-2' });
  // @ts-expect-error an item of a batch is typed as well
  await darkroom.batches.create([{ model: 'sora-2', prompt: 'A wave', n: 2 }]);
  // @ts-expect-error only a succeeded task has a result
  void task.result;
  if (task.status === 'failed') void task.error.retryable;
  // @ts-expect-error a failed task has an error, no result
  if (event.type === 'task.failed') void event.data.result;
}
