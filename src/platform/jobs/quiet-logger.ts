import { Logger as NestLogger } from '@nestjs/common';
import { Logger } from 'graphile-worker';

const log = new NestLogger('Jobs');

/** The runner logs failed jobs itself; a pool smaller than the concurrency is meant, since statements are batched. */
const ALREADY_SAID = /^(Failed task |WARNING: having maxPoolSize )/;

/**
 * What the job queue says, as far as an operator should wake for it. Only its sentence: the details it hands over carry
 * payloads and connection settings.
 */
export const quietLogger = new Logger(() => (level, message) => {
  if (ALREADY_SAID.test(message)) return;
  if (level === 'error') log.error(message);
  else if (level === 'warning') log.warn(message);
});
