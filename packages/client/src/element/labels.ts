/** The texts that the element shows. A page in another language replaces them. */
export interface TaskLabels {
  queued: string;
  running: string;
  succeeded: string;
  failed: string;
  /** The text before the error code of a failed task. */
  code: string;
  /** Shown if the task cannot be read: no access, no connection, or no such task. */
  unreadable: string;
  /** The text on the button that tries again. The button is below the text `unreadable`. */
  again: string;
  /** The text in place of an output whose file was deleted, or does not load. */
  expired: string;
}

export const ENGLISH: TaskLabels = {
  queued: 'Waiting to start',
  running: 'In progress',
  succeeded: 'Done',
  failed: 'This could not be made.',
  code: 'Reason:',
  unreadable: 'The state cannot be read.',
  again: 'Try again',
  expired: 'This file is no longer kept.',
};
