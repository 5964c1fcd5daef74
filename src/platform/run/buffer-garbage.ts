import { setFlagsFromString } from 'node:v8';

/**
 * Lets the garbage collector run when about 16 MB of buffers, four times the value of the flag, have become garbage. By
 * default V8 waits for more than 100 MB, because a buffer takes little of V8's own heap. So 20 uploads at once raised
 * the memory of a process by 100 MiB. V8 reads this flag at each allocation, so it may be set in a running process.
 */
export function boundBufferGarbage(): void {
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=4');
}
