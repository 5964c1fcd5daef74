import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Bus } from '../../src/platform/events/bus.ts';
import { PostgresTransport } from '../../src/platform/events/postgres-transport.ts';
import { RedisTransport } from '../../src/platform/events/redis-transport.ts';
import { channelsOf } from '../../src/platform/events/channel.ts';
import { Secrets } from '../../src/platform/config/secrets.ts';
import { darkroom } from '../support/darkroom-command.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { SECRET_KEY, testEnv } from '../support/test-env.ts';
import { CutLine } from '../support/faults/cut-line.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { startRedis } from '../support/servers/redis-server.ts';
import { busyness, eventually, leastOf } from '../support/wait.ts';

const CHANNEL = 'darkroom_events_test';

interface Ground {
  /** A bus, connected directly or through a `CutLine`. */
  make(line?: CutLine): Bus;
  line(): Promise<CutLine>;
  end(): Promise<void>;
}

const drivers: Record<string, () => Promise<Ground>> = {
  PostgreSQL: async () => {
    const database = await cloneDatabase();
    const { hostname, port } = new URL(database.url);
    return {
      make: (line) => new Bus(new PostgresTransport(line ? through(database.url, line) : database.url, CHANNEL)),
      line: () => CutLine.to(hostname, Number(port)),
      end: () => database.drop(),
    };
  },
  Redis: async () => {
    const redis = await startRedis();
    return {
      make: (line) => new Bus(new RedisTransport(line ? through(redis.url, line) : redis.url, CHANNEL)),
      line: () => CutLine.to('127.0.0.1', redis.port),
      end: () => redis.stop(),
    };
  },
};

/** The lines of one event that were logged. */
function eventsOf(spy: { mock: { calls: unknown[][] } }, event: string): object[] {
  return spy.mock.calls.map(([line]) => line as { event: string }).filter((line) => line.event === event);
}

function through(address: string, line: CutLine): string {
  const url = new URL(address);
  url.host = `127.0.0.1:${line.port}`;
  return url.href;
}

/** test/outside/deploy/redis runs this file over Redis. */
const DRIVER = process.env.DARKROOM_TEST_BUS ?? 'PostgreSQL';

describe(`the bus over ${DRIVER}`, () => {
  let ground: Ground;
  const started: Bus[] = [];
  const lines: CutLine[] = [];
  beforeAll(async () => {
    Logger.overrideLogger(false);
    ground = await drivers[DRIVER]!();
  });
  afterEach(async () => {
    for (const bus of started.splice(0)) await bus.stop();
    for (const line of lines.splice(0)) await line.close();
  });
  afterAll(() => ground.end());

  async function start(line?: CutLine): Promise<Bus> {
    const bus = ground.make(line);
    started.push(bus);
    await bus.start();
    return bus;
  }
  async function newLine(): Promise<CutLine> {
    const line = await ground.line();
    lines.push(line);
    return line;
  }
  function collect(bus: Bus, topic = 'task'): string[] {
    const received: string[] = [];
    bus.subscribe(topic, (bodies) => received.push(...bodies));
    return received;
  }

  it('publishes to all other buses, in order, by topic, and not to itself', async () => {
    const [a, b, c] = [await start(), await start(), await start()];
    const [own, atB, atC, elsewhere] = [collect(a), collect(b), collect(c), collect(b, 'else')];
    for (let at = 0; at < 1_000; at++) a.publish('task', `task_${at}`);
    a.publish('else', 'x');
    const sent = Array.from({ length: 1_000 }, (_, at) => `task_${at}`);
    await eventually('all to arrive', async () => atB.length >= 1_000 && atC.length >= 1_000 && elsewhere.length > 0);
    expect(atB).toEqual(sent);
    expect(atC).toEqual(sent);
    expect([own, elsewhere]).toEqual([[], ['x']]);
  });

  it('publishes within milliseconds', async () => {
    const [a, b] = [await start(), await start()];
    const receivedAt: number[] = [];
    b.subscribe('task', () => receivedAt.push(performance.now()));
    const times: number[] = [];
    for (let at = 0; at < 20; at++) {
      const sentAt = performance.now();
      a.publish('task', String(at));
      await eventually('the message', async () => receivedAt.length > at);
      times.push(receivedAt[at]! - sentAt);
    }
    expect(times.toSorted((x, y) => x - y)[10]!).toBeLessThan(100 * busyness()); // a few ms on an idle machine
  });

  it('carries any text', async () => {
    const [a, b] = [await start(), await start()];
    const received = collect(b);
    const texts = ["it's; drop table", '"\\', 'äöü 猫 🐈', 'x'.repeat(500)];
    for (const text of texts) a.publish('task', text);
    await eventually('all to arrive', async () => received.length === texts.length);
    expect(received).toEqual(texts);
  });

  it('sends nothing after an unsubscribe', async () => {
    const [a, b] = [await start(), await start()];
    const received: string[] = [];
    const stop = b.subscribe('task', (bodies) => received.push(...bodies));
    const others = collect(b);
    stop();
    a.publish('task', 'x');
    await eventually('the other subscriber', async () => others.length === 1);
    expect(received).toEqual([]);
  });

  it('reconnects by itself, reports how long it missed messages, and publishes what was waiting', async () => {
    const line = await newLine();
    const [a, b] = [await start(line), await start()];
    const [atA, atB] = [collect(a), collect(b)];
    const missed: number[] = [];
    a.onReconnect((seconds) => missed.push(seconds));
    line.cut();
    await sleep(1_500);
    b.publish('task', 'lost on a');
    a.publish('task', 'waits');
    await sleep(500);
    line.mend();
    await eventually('a to be back', async () => missed.length > 0);
    expect(missed).toHaveLength(1);
    expect(missed[0]).toBeGreaterThanOrEqual(2);
    expect(missed[0]).toBeLessThan(60);
    await eventually('the waiting message', async () => atB.includes('waits'));
    b.publish('task', 'again');
    await eventually('a message after the return', async () => atA.includes('again'));
    expect(atA).toEqual(['again']);
  });

  it('finds out within 2 s that nothing comes through a connection that was never closed, says so once, and when it hears again', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const log = jest.spyOn(Logger.prototype, 'log');
    const line = await newLine();
    const [a, b] = [await start(line), await start()];
    const received = collect(a);
    const missed: number[] = [];
    a.onReconnect((seconds) => missed.push(seconds));
    expect(a.isConnected).toBe(true);
    const seen = async () => {
      line.freeze();
      const frozenAt = performance.now();
      await eventually('a to be deaf', async () => !a.isConnected);
      const took = performance.now() - frozenAt;
      await sleep(Math.max(0, 3_000 - took)); // for the first try to connect again
      line.mend();
      await eventually('a to hear again', async () => a.isConnected);
      return took;
    };
    let tries = 0;
    const boundMs = 2_000 + 100 * busyness();
    expect(await leastOf(3, boundMs, () => ((tries += 1), seen()))).toBeLessThan(boundMs);
    expect(eventsOf(warn, 'bus.deaf')).toEqual(
      Array.from({ length: tries }, () => ({ event: 'bus.deaf', silent_s: 2 })),
    );
    expect(eventsOf(warn, 'bus.disconnected')).toEqual([]);
    const again = { event: 'bus.reconnected', missed_s: expect.any(Number) };
    expect(eventsOf(log, 'bus.reconnected')).toEqual(Array.from({ length: tries }, () => again));
    jest.restoreAllMocks();
    expect(missed).toHaveLength(tries);
    b.publish('task', 'again');
    await eventually('a message after the return', async () => received.includes('again'));
  });

  it('publishes what is waiting before it stops', async () => {
    const [a, b] = [await start(), await start()];
    const received = collect(b);
    for (let at = 0; at < 2_000; at++) a.publish('task', `task_${at}`);
    await a.stop();
    await eventually('all to arrive', async () => received.length === 2_000);
  });
});

if (DRIVER === 'Redis') {
  it('starts while Redis is away, and connects when Redis is back', async () => {
    const line = await CutLine.to('127.0.0.1', 1);
    await line.close();
    const bus = new Bus(new RedisTransport(`redis://127.0.0.1:${line.port}`, CHANNEL));
    const startedAt = Date.now();
    await bus.start();
    expect(Date.now() - startedAt).toBeLessThan(30_000);
    bus.publish('task', 'x');
    await bus.stop();
  });

  it('needs no more rights than the guide says, and says which one is missing', async () => {
    const rights = '+subscribe +ping +info +client';
    const redis = await startRedis({
      lines: [
        `user all on >secret resetchannels &darkroom_events_* ${rights} +publish`,
        `user deaf on >secret resetchannels &darkroom_events_* ${rights}`,
      ],
    });
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const busOf = (user: string) =>
      new Bus(new RedisTransport(redis.url.replace('://', `://${user}:secret@`), CHANNEL));
    const [able, deaf] = [busOf('all'), busOf('deaf')];
    try {
      await able.start();
      expect(able.isConnected).toBe(true);
      await deaf.start();
      expect(deaf.isConnected).toBe(false);
      const [said, ...more] = eventsOf(warn, 'bus.deaf') as { err: Error }[];
      expect([said!.err.message, more]).toEqual([expect.stringMatching(/^NOPERM.*publish/), []]);
    } finally {
      jest.restoreAllMocks();
      await able.stop();
      await deaf.stop();
      await redis.stop();
    }
  });
}

describe('the channel', () => {
  it('is another for each deployment', () => {
    const [channel] = channelsOf(new Secrets([Buffer.from(SECRET_KEY, 'hex')]));
    const [other] = channelsOf(new Secrets([Buffer.from('fedcba9876543210'.repeat(4), 'hex')]));
    expect(channel).toMatch(/^darkroom_events_[0-9a-f]{8}$/);
    expect(other).not.toBe(channel);
  });
});

describe('an unreachable Redis', () => {
  let database: TestDatabase;
  let running: ServiceProcess;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await cloneDatabase();
    const eventsUrl = `redis://user:not-in-logs@127.0.0.1:${await freePort()}`;
    ({ env } = await testEnv(database.url, { LOG_LEVEL: 'warn', EVENTS_URL: eventsUrl }));
    running = await spawnService(env);
  });
  afterAll(async () => {
    await running.kill('SIGTERM');
    await database.drop();
  });

  it('is logged once, and reported by /readyz and /metrics while the service stays ready', async () => {
    const { status, body } = await running.api.get<{ checks: object }>('/readyz');
    expect([status, body.checks]).toEqual([200, { database: 'ok', events: 'failed', queue: 'ok', storage: 'ok' }]);
    expect((await running.api.get('/metrics')).text).toMatch(/^darkroom_bus_connected 0$/m);
    await eventually('the log line', async () => running.output().includes('bus.disconnected'));
    expect(running.output().match(/bus\.disconnected/g)).toHaveLength(1);
    expect(running.output()).not.toContain('not-in-logs');
  });

  it('is a finding of doctor', async () => {
    const { out: output } = await darkroom(['doctor', '--json'], env);
    expect(JSON.parse(output)).toContainEqual({
      check: 'events',
      ok: false,
      note: expect.stringContaining('ECONNREFUSED'),
    });
    expect(output).not.toContain('not-in-logs');
  });
});
