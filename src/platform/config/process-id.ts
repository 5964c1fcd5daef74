import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Identifies this process: in its log lines, its traces, and the record of the tasks it has claimed. */
export const PROCESS_ID = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
