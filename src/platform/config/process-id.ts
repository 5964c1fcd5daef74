import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Identifies this process in its log lines, in its traces, and in the tasks that it has claimed. */
export const PROCESS_ID = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
