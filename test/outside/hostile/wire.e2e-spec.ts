import { expectNoLeak, LONG } from '../../support/hostile/form.ts';
import { type HostileService, startHostileService } from '../../support/hostile/service.ts';
import { attackWire, BROKEN, slowSenders } from '../../support/hostile/wire-suite.ts';
import { sendRaw } from '../../support/hostile/wire.ts';

/** Slow requests are closed within 40 s. */
const CUT_MS = 40_000;

let service: HostileService;
beforeAll(async () => void (service = await startHostileService()));
afterAll(() => service.close());
afterEach(() => expect(service.faults()).toEqual([]));

attackWire(() => service, LONG);

it('slow senders are closed', async () => {
  const sockets = slowSenders(service.port, LONG.slowSenders);
  const startedAt = performance.now();
  await Promise.all(sockets.map((socket) => new Promise((cut) => socket.once('close', cut)))); // an error may come first
  const ms = performance.now() - startedAt;
  process.stderr.write(`hostile bytes: ${sockets.length} slow senders cut within ${Math.round(ms)} ms\n`);
  expect(ms).toBeLessThan(CUT_MS);
});

it('do not leak memory', async () => {
  await expectNoLeak('hostile bytes', service, { rounds: 2, heapMib: 4, rssMib: 128 }, async () => {
    for (let time = 0; time < 20; time++)
      await Promise.all(Object.values(BROKEN).map((bytes) => sendRaw(service.port, [bytes])));
  });
});
