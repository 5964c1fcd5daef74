import { Logger } from '@nestjs/common';

/**
 * From now on the log gets what Node would print: warnings, and the error that ends the process. Node prints several
 * lines of text, which repeat whatever the message of an error contains.
 */
export function logProcess(): void {
  const logger = new Logger('process');
  process.removeAllListeners('warning'); // Node's own listener, which prints
  process.on('warning', (err) => logger.warn({ event: 'process.warned', err }));
  process.on('uncaughtException', (err, origin) => {
    logger.fatal({ event: 'process.crashed', origin, err });
    process.exit(1);
  });
}
