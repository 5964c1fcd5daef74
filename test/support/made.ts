import { createHash } from 'node:crypto';
import sharp from 'sharp';
import type { OutputBody } from './clients/api.ts';
import type { TestService } from './service.ts';

/** A task's output with its bytes. */
export interface Made {
  taskId: string;
  output: OutputBody;
  bytes: Buffer;
}

export async function make(service: TestService, request: object): Promise<Made> {
  const { body } = await service.api.create(request);
  const task = await service.api.untilFinal(body.task_id);
  const output = task.result!.outputs[0]!;
  const bytes = Buffer.from(await (await fetch(output.url)).arrayBuffer());
  return { taskId: body.task_id, output, bytes };
}

/** Checks that size and hash in the task are those of the file. */
export function expectExact({ output, bytes }: Made): void {
  expect(bytes.length).toBe(output.size_bytes);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(output.sha256);
}

export const pixelsOf = (bytes: Buffer): Promise<Buffer> => sharp(bytes).raw().toBuffer();
