import { Injectable } from '@nestjs/common';
import { FindUntaken } from '../sql/find-untaken.ts';

/** Deliveries that wait although nothing seems to be in their way. */
@Injectable()
export class UntakenDispatches {
  constructor(private readonly rows: FindUntaken) {}

  /** @returns ids of tasks, in order */
  taskIds(page: { after: string | null; apiKeyId: string | null; limit: number }): Promise<string[]> {
    return this.rows.taskIds(page);
  }
}
