import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { WebSocket } from 'ws';
import { testEnv } from '../test-env.ts';
import { cloneDatabase } from '../database.ts';
import { type ServiceProcess, spawnService } from '../process.ts';
import { eventually } from '../wait.ts';

/** The built program under attack. It is a separate process, so that a test can measure its heap. */
export interface HostileService extends ServiceProcess {
  env: Record<string, string>;
  port: number;
  /** Bytes of the heap in use after a full collection. */
  heap(): Promise<number>;
  /** Log lines since the last call that report an internal error or a warning. */
  faults(): string[];
  /** Resident bytes of the process. */
  rss(): Promise<number>;
  close(): Promise<void>;
}

/** By default the service has no workers, so that the tasks of the attacks are not rendered. */
export async function startHostileService(settings: Record<string, string> = {}): Promise<HostileService> {
  const database = await cloneDatabase();
  const { env, dataDir } = await testEnv(database.url, {
    ROLE: 'api',
    LOG_LEVEL: 'warn',
    MAX_QUEUED_PER_KEY: '0',
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
    ...settings,
  });
  const service = await spawnService(env);
  let read = 0;
  let debug: Promise<WebSocket> | undefined;
  return {
    ...service,
    env,
    port: Number(env.PORT),
    faults: () => {
      const added = service.output().slice(read);
      read += added.length;
      return added.split('\n').filter((line) => /"level":"(error|fatal)"|request\.failed|Warning:/.test(line));
    },
    heap: async () => heapInUse(await (debug ??= openDebugger(service))),
    rss: async () => {
      const text = await (await fetch(new URL('/metrics', env.PUBLIC_URL))).text();
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
    },
    close: async () => {
      (await debug)?.close();
      await service.kill('SIGTERM');
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Connects to the inspector of the process. Node prints its address at the start. */
async function openDebugger({ output }: ServiceProcess): Promise<WebSocket> {
  const address = await eventually('the inspector', async () => /ws:\/\/127\.0\.0\.1:\S+/.exec(output())?.[0]);
  const socket = new WebSocket(address);
  await once(socket, 'open');
  return socket;
}

/** Collects garbage twice, because the second collection frees what the first one finalised. */
async function heapInUse(socket: WebSocket): Promise<number> {
  for (let time = 0; time < 2; time++) await command(socket, 'HeapProfiler.collectGarbage');
  const { usedSize } = await command<{ usedSize: number }>(socket, 'Runtime.getHeapUsage');
  return usedSize;
}

let lastId = 0;

function command<Result>(socket: WebSocket, method: string): Promise<Result> {
  const id = ++lastId;
  return new Promise((resolve) => {
    const take = (data: Buffer): void => {
      const message = JSON.parse(data.toString()) as { id?: number; result: Result };
      if (message.id !== id) return;
      socket.off('message', take);
      resolve(message.result);
    };
    socket.on('message', take);
    socket.send(JSON.stringify({ id, method }));
  });
}
