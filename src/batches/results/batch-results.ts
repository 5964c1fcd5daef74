import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Readable } from 'node:stream';
import { GeneratedFiles, type GeneratedFile } from '../../files/content/generated-files.ts';
import { TaskBatches } from '../../tasks/acts/task-batches.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import type { BatchFault } from '../record/batch-fault.ts';
import { isEnded, type ResultStatus } from '../record/batch-status.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { BatchEndpoints } from '../create/batch-endpoints.ts';
import { BatchRows } from '../sql/batch-rows.ts';
import { parseResultFileId, RESULT_FILE_ID, resultFileId } from '../record/result-file-id.ts';
import { type LineContext, lineOfFault, lineOfTask } from './result-line.ts';

/** Tasks per page. A page is read, and its links are signed, only shortly before the client receives it. */
const PAGE = 100;

export const RESULTS_TYPE = 'application/jsonl; charset=utf-8';

/** The results of batches as JSON lines. They are made from the tasks while a client reads: nothing is stored twice. */
@Injectable()
export class BatchResults implements OnModuleInit {
  constructor(
    private readonly rows: BatchRows,
    private readonly tasks: TaskBatches,
    private readonly endpoints: BatchEndpoints,
    private readonly files: GeneratedFiles,
  ) {}

  onModuleInit(): void {
    this.files.register(RESULT_FILE_ID, (apiKeyId, fileId) => this.findFile(apiKeyId, fileId));
  }

  /** @param status undefined: all final items */
  open(batch: ShownBatch, status: ResultStatus | undefined): Readable {
    return Readable.from(this.lines(batch, status), { objectMode: false, highWaterMark: 64 * 1024 });
  }

  private async findFile(apiKeyId: string, fileId: string): Promise<GeneratedFile | null> {
    const { batchId, kind } = parseResultFileId(fileId)!;
    const batch = await this.rows.find(batchId);
    if (batch?.api_key_id !== apiKeyId || !isEnded(batch.status)) return null;
    const unsuccessful = batch.failed + batch.cancelled + batch.invalid_items;
    if ((kind === 'output' ? batch.succeeded : unsuccessful) === 0) return null;
    return {
      contentType: RESULTS_TYPE,
      filename: `${resultFileId(batchId, kind)}.jsonl`,
      purpose: 'batch_output',
      createdAt: batch.ended_at!,
      expiresAt: batch.kept_until,
      open: () => this.open(batch, kind === 'output' ? 'succeeded' : 'failed'),
    };
  }

  /** Yields the lines in the order of the items. Each yielded text has several lines. */
  private async *lines(batch: ShownBatch, status: ResultStatus | undefined): AsyncGenerator<string> {
    const { invalid, requestId } = await this.rows.invalidOf(batch.id);
    const endpoint = this.endpoints.find(batch.endpoint);
    const context: LineContext = { batchId: batch.id, requestId, answer: (task) => endpoint.answer(task) };
    const faults = status === 'succeeded' ? [] : invalid.toReversed();
    const faultsBefore = (index: number): BatchFault[] => {
      const before: BatchFault[] = [];
      while (faults.length > 0 && faults.at(-1)!.index < index) before.push(faults.pop()!);
      return before;
    };
    for await (const tasks of this.pages(batch.id)) {
      const lines = tasks.flatMap((task) => [
        ...faultsBefore(task.batch_index!).map((fault) => lineOfFault(fault, context)),
        ...(status === undefined || task.status === status ? [lineOfTask(task, context)] : []),
      ]);
      if (lines.length > 0) yield toText(lines);
    }
    if (faults.length > 0) yield toText(faultsBefore(Infinity).map((fault) => lineOfFault(fault, context)));
  }

  private async *pages(batchId: string): AsyncGenerator<ShownTask[]> {
    for (let after = -1; ;) {
      const tasks = await this.tasks.finalTasks(batchId, after, PAGE);
      if (tasks.length > 0) yield tasks;
      if (tasks.length < PAGE) return;
      after = tasks.at(-1)!.batch_index!;
    }
  }
}

const toText = (lines: object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
