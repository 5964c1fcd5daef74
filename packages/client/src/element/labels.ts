/** What the element says. A page in another language replaces them. */
export interface TaskLabels {
  queued: string;
  running: string;
  succeeded: string;
  failed: string;
  /** In front of the code of a failed task. */
  code: string;
  /** The task cannot be read: no access, no connection, or no such task. */
  unreadable: string;
  /** On the button below it. */
  again: string;
  /** The file is no longer kept. */
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
