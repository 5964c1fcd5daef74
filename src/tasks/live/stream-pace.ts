import { Injectable } from '@nestjs/common';
import { Turns } from '../../platform/run/turns.ts';
import type { ShownTask } from '../record/task.entity.ts';
import { charactersOf } from '../sql/page-of-tasks.ts';

/** The most characters of long inputs and metadata that the streams of one API key get in a second, in one process. */
const CHARACTERS_PER_S = 8_388_608;
/** Tasks with shorter texts are sent without a wait. */
const PACED_CHARACTERS = 8_192;

/**
 * Bounds how fast long inputs and metadata are sent to the streams of an API key, since each state contains them.
 * Without the bound, a thousand streams with inputs of 192 kB held up all other requests for seconds.
 */
@Injectable()
export class StreamPace {
  /** The streams of a key take turns, and a turn lasts as long as the texts may take. */
  private readonly turns = new Turns(Infinity, { ofOwner: 1 });

  /**
   * @param closed aborts when the stream is closed, which ends the wait
   * @returns resolves when the task may be sent; null: at once
   */
  turnOf(task: Pick<ShownTask, 'api_key_id' | 'input' | 'metadata'>, closed: AbortSignal): Promise<void> | null {
    const characters = charactersOf(task);
    if (characters <= PACED_CHARACTERS) return null;
    const hold = (leave: () => void): void => void setTimeout(leave, (characters / CHARACTERS_PER_S) * 1_000).unref();
    const leave = this.turns.tryEnter(task.api_key_id);
    if (!leave) return this.turns.enter(task.api_key_id, closed).then(hold, () => undefined);
    hold(leave);
    return null;
  }
}
