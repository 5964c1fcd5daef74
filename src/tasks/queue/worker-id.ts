import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Identifies this process in the record of the tasks it has claimed. */
export const WORKER_ID = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
