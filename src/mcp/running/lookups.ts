import { Injectable } from '@nestjs/common';
import { Turns } from '../../platform/images/turns.ts';
import type { Exchange } from '../tools/tool.ts';

/** A quarter of the connections of the pool. The others are left to requests that are no batches. */
const AT_ONCE = 5;

/**
 * Statements of messages that nothing gathers into one. A batch has up to 50 of them, and whoever waits 2 s for a connection of
 * the pool gets service_unavailable: on a slow database a batch would refuse its own messages, and those of others.
 */
@Injectable()
export class Lookups {
  private readonly turns = new Turns(AT_ONCE);

  /** @throws the reason of `gone` when the client hangs up before the turn; otherwise the error of `look` */
  take<Found>({ caller, gone }: Exchange, look: () => Promise<Found>): Promise<Found> {
    return this.turns.take(caller.apiKeyId, gone, look);
  }
}
