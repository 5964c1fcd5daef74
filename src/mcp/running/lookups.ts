import { Injectable } from '@nestjs/common';
import { shareOwner } from '../../auth/access/access.ts';
import { Turns } from '../../platform/run/turns.ts';
import type { Exchange } from '../contract/tool.ts';

/**
 * The maximum number of concurrent look-ups: a quarter of the default pool of connections. The rest is for other
 * requests.
 */
const AT_ONCE = 5;
/**
 * The maximum number of concurrent look-ups of one API key. The key may use more connections than that, so its other
 * requests go on.
 */
const OF_A_KEY = 3;

/**
 * Bounds the look-ups of a batch, because each of its up to 50 messages may run a statement. A request that waits 2 s
 * for a connection gets service_unavailable. Without a bound, a batch on a slow database would fail its own messages
 * and other requests.
 */
@Injectable()
export class Lookups {
  private readonly turns = new Turns(AT_ONCE, { ofOwner: OF_A_KEY });

  /** @throws the reason of `gone` when the client hangs up before the turn; otherwise the error of `lookUp` */
  take<Found>({ caller, gone }: Exchange, lookUp: () => Promise<Found>): Promise<Found> {
    return this.turns.take(shareOwner(caller), gone, lookUp);
  }
}
