import { pipeline, type Readable, Transform } from 'node:stream';
import { Logger } from '@nestjs/common';

const logger = new Logger('storage');

/**
 * Passes the bytes on, and fails if there are fewer or more than `expected`. A bucket may answer with another file than
 * was stored, and a file that is longer than recorded could have any length.
 */
export function exactly(bytes: Readable, expected: number): Readable {
  let left = expected;
  const wrong = () => {
    logger.error({ event: 'storage.length_wrong', expected });
    return new Error(`The storage has another number of bytes than ${expected}.`);
  };
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(wrong());
      else done(null, chunk);
    },
    flush(done) {
      done(left === 0 ? null : wrong());
    },
  });
  return pipeline(bytes, check, () => undefined); // an error of either stream ends both
}
