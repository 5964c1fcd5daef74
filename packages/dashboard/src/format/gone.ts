import { nowS } from './clock.ts';
import { day } from './time.ts';

/** Why a file is gone: its retention ended, or it was deleted before that. */
export const goneWords = (filesUntil: number): string =>
  filesUntil > 0 && filesUntil <= nowS() ? `Deleted on ${day(filesUntil)}` : 'Deleted';
