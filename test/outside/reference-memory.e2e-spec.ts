import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { aFailure } from '../support/clients/api.ts';
import { startOwnService } from '../support/service.ts';

it('reference images take little memory, however large they are and however slowly they arrive', async () => {
  const piece = Buffer.alloc(18 * 2 ** 20, 1);
  const server = createServer((_request, response) => void response.write(piece)).listen(0, '127.0.0.1'); // never ends
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const service = await startOwnService({ WORKER_CONCURRENCY: '50' });
  const residentMb = async () =>
    Number(/^process_resident_memory_bytes (\S+)$/m.exec((await service.api.get('/metrics')).text)![1]) / 2 ** 20;
  try {
    await service.api.create(aFailure, { prefer: 'wait=20' });
    const before = await residentMb();
    const made = [];
    for (let at = 0; at < 12; at += 1) {
      const urls = Array.from({ length: 16 }, (_, index) => `http://127.0.0.1:${port}/${at}-${index}.png`);
      made.push(await service.api.create({ model: 'gpt-image-2', prompt: 'x', reference_images: urls }));
    }
    let highest = before;
    for (let nth = 0; nth < 80; nth += 1) {
      highest = Math.max(highest, await residentMb());
      await sleep(100);
    }
    for (const task of made) await service.api.cancel(task.body.task_id);
    expect(highest - before).toBeLessThan(512);
  } finally {
    await service.close();
    server.closeAllConnections();
    server.close();
  }
});
