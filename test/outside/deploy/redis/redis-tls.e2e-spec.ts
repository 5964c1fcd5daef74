import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Logger } from '@nestjs/common';
import { Bus } from '../../../../src/platform/events/bus.ts';
import { RedisTransport } from '../../../../src/platform/events/redis-transport.ts';
import { testEnv } from '../../../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ServiceProcess, spawnService } from '../../../support/process.ts';
import { makeCertificate } from '../../../support/servers/certificate.ts';
import { startCluster, startSentinels } from '../../../support/servers/redis-groups.ts';
import { type RedisServer, startRedis, type TlsFiles } from '../../../support/servers/redis-server.ts';
import { makeTestFolder, removeTestFolder } from '../../../support/test-context.ts';
import { eventually, leastOf } from '../../../support/wait.ts';
import { describeWith } from '../tools.ts';

/** 2 s of silence, and what `/readyz` remembers. */
const DEAF_MS = 2_000 + 600;

describeWith({ 'redis-server': 'Debian: redis-server' }, 'Redis over TLS', () => {
  const authorities = getCACertificates('default');
  let folder: string;
  let tls: TlsFiles;

  beforeAll(() => {
    Logger.overrideLogger(false);
    folder = makeTestFolder();
    tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    const { cert, key } = makeCertificate('127.0.0.1');
    writeFileSync(tls.cert, cert);
    writeFileSync(tls.key, key);
    setDefaultCACertificates([...authorities, cert]);
  });
  afterAll(async () => {
    setDefaultCACertificates(authorities);
    await removeTestFolder(folder);
  });

  it.each([
    ['a server', () => startRedis({ tls })],
    ['sentinels and their servers', () => startSentinels(tls)],
    ['a cluster', () => startCluster(tls)],
  ])('carries news: %s', async (_name, startServers) => {
    const servers = await startServers();
    expect(servers.url).toContain('+tls://');
    const [a, b] = [new Bus(new RedisTransport(servers.url, 'test')), new Bus(new RedisTransport(servers.url, 'test'))];
    try {
      const received: string[] = [];
      b.subscribe('task', (bodies) => received.push(...bodies));
      await Promise.all([a.start(), b.start()]);
      expect([a.isConnected, b.isConnected]).toEqual([true, true]);
      a.publish('task', 'x');
      await eventually('the message', async () => received.includes('x'), 5_000);
    } finally {
      await a.stop();
      await b.stop();
      await servers.stop();
    }
  });

  describe('a process', () => {
    let database: TestDatabase;
    let redis: RedisServer;
    const processes: ServiceProcess[] = [];
    beforeAll(async () => {
      [database, redis] = await Promise.all([cloneDatabase(), startRedis({ tls })]);
    });
    afterAll(async () => {
      for (const process of processes) await process.kill('SIGKILL');
      await redis?.stop();
      await database?.drop();
    });
    async function start(settings: Record<string, string>): Promise<ServiceProcess> {
      const { env } = await testEnv(database.url, {
        EVENTS_URL: redis.url.replace('redis+tls', 'rediss'),
        LOG_LEVEL: 'info',
        ...settings,
      });
      const process = await spawnService(env);
      processes.push(process);
      return process;
    }

    it('that trusts the authority hears, and says within 2 s when Redis is silent', async () => {
      const process = await start({ NODE_EXTRA_CA_CERTS: tls.cert });
      expect(await eventsOf(process)).toBe('ok');
      const deaf = async () => {
        redis.signal('SIGSTOP');
        const since = performance.now();
        await eventually('/readyz to say it', async () => (await eventsOf(process)) === 'failed');
        const took = performance.now() - since;
        expect(await connectedOf(process)).toBe('0');
        redis.signal('SIGCONT');
        await eventually('the news to be back', async () => (await eventsOf(process)) === 'ok');
        return took;
      };
      expect(await leastOf(3, DEAF_MS, deaf)).toBeLessThan(DEAF_MS);
      expect(process.output()).toMatch(/"event":"bus\.deaf"[^\n]*"silent_s":2/);
      expect(process.output()).toContain('"bus.reconnected"');
      expect(await connectedOf(process)).toBe('1');
    });

    it('that does not trust it starts, and says why it hears nothing', async () => {
      const process = await start({});
      expect(await eventsOf(process)).toBe('failed');
      expect(process.output()).toMatch(/"event":"bus\.disconnected"[^\n]*DEPTH_ZERO_SELF_SIGNED_CERT/);
    });
  });
});

async function eventsOf({ api }: ServiceProcess): Promise<string> {
  return (await api.get<{ checks: { events: string } }>('/readyz')).body.checks.events;
}

async function connectedOf({ api }: ServiceProcess): Promise<string | undefined> {
  return /^darkroom_bus_connected (\d)$/m.exec((await api.get('/metrics')).text)?.[1];
}
