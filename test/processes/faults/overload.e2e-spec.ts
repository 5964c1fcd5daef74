import { connect } from 'node:net';
import { aFailure } from '../../support/clients/api.ts';
import { quantile } from '../../support/faults/client.ts';
import { type HostileService, startHostileService } from '../../support/hostile/service.ts';
import { eventually } from '../../support/wait.ts';

const MIB = 1024 * 1024;

describe('400 MiB of incomplete bodies, sent to the real program', () => {
  const BODIES = 400;
  let service: HostileService;
  beforeAll(async () => (service = await startHostileService()));
  afterAll(() => service.close());

  it('do not fill its memory, and do not block other clients', async () => {
    const ordinary = async () => {
      const startedAt = performance.now();
      expect((await service.api.create(aFailure)).status).toBe(201);
      return performance.now() - startedAt;
    };
    await ordinary();
    const before = await service.rss();
    const body = Buffer.alloc(1024 * 1024 - 1, 'x');
    // With a key: a request without one is refused before its body is received.
    const authorization = `Authorization: Bearer ${service.api.key}\r\n`;
    const head = `POST /v1/generations HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${body.length + 1}\r\n\r\n`;
    let refused = 0;
    const sockets = Array.from({ length: BODIES }, () => {
      const socket = connect(service.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('data', (answer: Buffer) => (refused += answer.toString().startsWith('HTTP/1.1 503 ') ? 1 : 0));
      socket.write(head);
      socket.write(body);
      return socket;
    });
    try {
      let highest = before;
      await eventually('all but some to be refused', async () => {
        highest = Math.max(highest, await service.rss());
        return refused > BODIES - 80;
      });
      const took = [];
      for (let nth = 0; nth < 20; nth += 1) took.push(await ordinary());
      highest = Math.max(highest, await service.rss());
      process.stdout.write(
        `${JSON.stringify({ bodies: BODIES, refused, rss_before_mib: before / MIB, rss_highest_mib: highest / MIB, create_p95_ms: quantile(took, 0.95) })}\n`,
      );
      expect(highest - before).toBeLessThan(300 * MIB);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
