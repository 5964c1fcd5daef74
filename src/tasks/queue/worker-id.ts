import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Names this process in the record of the tasks it holds. */
export const WORKER_ID = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
