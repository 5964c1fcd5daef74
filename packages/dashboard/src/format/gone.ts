import { nowS } from './clock.ts';
import { day } from './time.ts';

/** Why a file is no longer there: its time was over, or it was deleted before. */
export const goneWords = (filesUntil: number): string =>
  filesUntil > 0 && filesUntil <= nowS() ? `Deleted on ${day(filesUntil)}` : 'Deleted';
