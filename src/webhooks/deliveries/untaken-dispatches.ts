import { Injectable } from '@nestjs/common';
import { FindUntaken } from '../sql/find-untaken.ts';

/** Finds deliveries that wait although nothing seems to prevent them. */
@Injectable()
export class UntakenDispatches {
  constructor(private readonly rows: FindUntaken) {}

  /** @returns the ids of the tasks that untaken deliveries are about, sorted */
  taskIds(page: { after: string | null; apiKeyId: string | null; limit: number }): Promise<string[]> {
    return this.rows.taskIds(page);
  }
}
