import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../../errors/api-error.ts';
import { makeScratch, removeScratch } from '../../run/scratch.ts';
import { bodyOf } from '../request.ts';
import type { UploadLimits } from '../limits.ts';
import { discardRest, watchArrival } from './arrival.ts';
import type { UploadPlace, UploadRoom } from './upload-room.ts';

/** One body that is going to disk: its `UploadPlace`, its scratch folder, and the reason to stop. */
export class Upload {
  readonly folder: string;
  private readonly place: UploadPlace;
  private readonly stopped = new AbortController();
  private readonly endWatch: () => void;

  /** @throws ApiError service_unavailable, rate_limit_exceeded */
  constructor(
    readonly raw: IncomingMessage,
    readonly limits: UploadLimits,
    room: UploadRoom,
    owner: string,
  ) {
    this.place = room.enter(owner);
    try {
      this.folder = makeScratch('upload');
    } catch (error) {
      this.place.leave(); // the disk is full, or the temporary folder is gone
      throw error;
    }
    this.endWatch = watchArrival(raw, limits, (slow) => this.fail(slow));
    // A body that has arrived, but was not read to its end, is lost too when its stream is destroyed.
    const body = bodyOf(raw);
    body.once('error', (error) => this.fail(error instanceof ApiError ? error : disconnected()));
    raw.once('close', () => {
      if (!raw.readableEnded) this.fail(disconnected());
    });
    if ([raw, body].some((each) => each.destroyed && !each.readableEnded)) this.fail(disconnected());
  }

  /** Aborts with the first failure. */
  get signal(): AbortSignal {
    return this.stopped.signal;
  }

  get target(): { place: UploadPlace; signal: AbortSignal } {
    return { place: this.place, signal: this.signal };
  }

  fail(error: Error): void {
    this.stopped.abort(error);
  }

  /** Deletes everything that was written. Does not wait for the rest of the body. */
  async dispose(): Promise<void> {
    this.endWatch();
    discardRest(this.raw, this.limits.lingerMs);
    await removeScratch(this.folder);
    this.place.leave();
  }
}

function disconnected(): ApiError {
  return new ApiError('bad_request', { message: 'The connection was closed before the body had arrived.' });
}
