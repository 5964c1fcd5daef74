import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { PictureSize } from './picture-upstream.ts';

/**
 * Starts the upstream of pictures in a process of its own, so that its work is not on the thread of the client that
 * measures.
 */
export interface ForkedPictureUpstream {
  url: string;
  hookUrl: string;
  /** How many webhooks have arrived. */
  webhooks(): Promise<number>;
  /** @returns the bytes of the picture that it answers with from now on */
  use(size: PictureSize): Promise<number>;
  close(): Promise<void>;
}

export async function forkPictureUpstream(): Promise<ForkedPictureUpstream> {
  const child = fork(new URL('picture-upstream-process.ts', import.meta.url));
  const [addresses] = (await once(child, 'message')) as [{ url: string; hookUrl: string }];
  const ask = async (message: PictureSize | 'webhooks'): Promise<number> => {
    const answered = once(child, 'message');
    child.send(message);
    return (await answered)[0] as number;
  };
  return {
    ...addresses,
    use: ask,
    webhooks: () => ask('webhooks'),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}
