import { Injectable } from '@nestjs/common';
import { endOfTurn } from '../../platform/run/end-of-turn.ts';
import { jsonOfList } from '../../platform/schema/list-of.ts';
import { ListTasks } from './list-tasks.ts';
import type { PageRequest } from '../sql/page-of-tasks.ts';
import { TaskViews } from './task-views.ts';
import type { TaskFilter } from '../record/task-filter.ts';

/**
 * Pages of `GET /v1/tasks` as JSON. Equal requests of one event-loop turn share a page: it is read at the end of the turn, so after each of
 * them arrived, and its text is made once.
 */
@Injectable()
export class ListAnswers {
  private readonly ofThisTurn = new Map<string, Promise<string>>();

  constructor(
    private readonly lists: ListTasks,
    private readonly views: TaskViews,
  ) {}

  json(apiKeyId: string, filter: TaskFilter, page: PageRequest): Promise<string> {
    const asked = JSON.stringify([apiKeyId, filter, page]);
    let answer = this.ofThisTurn.get(asked);
    if (!answer) {
      answer = endOfTurn().then(() => {
        this.ofThisTurn.delete(asked);
        return this.read(apiKeyId, filter, page);
      });
      this.ofThisTurn.set(asked, answer);
    }
    return answer;
  }

  private async read(apiKeyId: string, filter: TaskFilter, page: PageRequest): Promise<string> {
    const { tasks, hasMore } = await this.lists.list(apiKeyId, filter, page);
    return jsonOfList(
      tasks.map((task) => this.views.keptJson(task)),
      hasMore,
      tasks.map(({ id }) => id),
    );
  }
}
