import type { ErrorCode } from '../../errors/catalog.ts';

/** What is wrong with an item of a batch. */
export interface BatchFault {
  /** Position among the items, from 0. */
  index: number;
  /** Line of the file, from 1; null without a file. */
  line: number | null;
  custom_id: string | null;
  code: ErrorCode;
  /** The wrong field, in the item's body or in the item itself; null if no single field is wrong. */
  param: string | null;
  message: string;
}

/** The most faults that one answer shows. */
export const MAX_SHOWN_FAULTS = 100;
