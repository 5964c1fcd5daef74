import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Bus } from '../../src/platform/events/bus.ts';
import { PostgresBus } from '../../src/platform/events/postgres.bus.ts';
import { RedisBus } from '../../src/platform/events/redis.bus.ts';
import { CutLine } from '../support/faults/cut-line.ts';
import { cloneDatabase } from '../support/database.ts';
import { hasRedis, startRedis } from '../support/servers/redis-server.ts';
import { eventually } from '../support/wait.ts';

interface Ground {
  /** A bus, directly or through a line of the test's. */
  make(line?: CutLine): Bus;
  line(): Promise<CutLine>;
  end(): Promise<void>;
}

const drivers: Record<string, () => Promise<Ground>> = {
  PostgreSQL: async () => {
    const database = await cloneDatabase();
    const { hostname, port } = new URL(database.url);
    return {
      make: (line) => new PostgresBus(line ? through(database.url, line) : database.url),
      line: () => CutLine.to(hostname, Number(port)),
      end: () => database.drop(),
    };
  },
  Redis: async () => {
    const redis = await startRedis();
    return {
      make: (line) => new RedisBus(line ? through(redis.url, line) : redis.url),
      line: () => CutLine.to('127.0.0.1', redis.port),
      end: () => redis.stop(),
    };
  },
};

function through(address: string, line: CutLine): string {
  const url = new URL(address);
  url.host = `127.0.0.1:${line.port}`;
  return url.href;
}

if (!hasRedis)
  process.stderr.write('The Redis bus is not tested: there is no redis-server here (apt-get install redis-server).\n');

describe.each(Object.keys(drivers).filter((name) => name !== 'Redis' || hasRedis))('the bus over %s', (driver) => {
  let ground: Ground;
  const started: Bus[] = [];
  const lines: CutLine[] = [];
  beforeAll(async () => {
    Logger.overrideLogger(false);
    ground = await drivers[driver]!();
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
  function hear(bus: Bus, topic = 'task'): string[] {
    const heard: string[] = [];
    bus.subscribe(topic, (bodies) => heard.push(...bodies));
    return heard;
  }

  it('tells all others, in order, by topic, and not itself', async () => {
    const [a, b, c] = [await start(), await start(), await start()];
    const [own, atB, atC, elsewhere] = [hear(a), hear(b), hear(c), hear(b, 'else')];
    for (let at = 0; at < 1_000; at++) a.publish('task', `task_${at}`);
    a.publish('else', 'x');
    const sent = Array.from({ length: 1_000 }, (_, at) => `task_${at}`);
    await eventually('all to arrive', async () => atB.length >= 1_000 && atC.length >= 1_000 && elsewhere.length > 0);
    expect(atB).toEqual(sent);
    expect(atC).toEqual(sent);
    expect([own, elsewhere]).toEqual([[], ['x']]);
  });

  it('is quick', async () => {
    const [a, b] = [await start(), await start()];
    const heardAt: number[] = [];
    b.subscribe('task', () => heardAt.push(performance.now()));
    const times: number[] = [];
    for (let at = 0; at < 50; at++) {
      const sentAt = performance.now();
      a.publish('task', String(at));
      await eventually('the news', async () => heardAt.length > at);
      times.push(heardAt[at]! - sentAt);
      await sleep(25);
    }
    expect(times.toSorted((x, y) => x - y)[25]!).toBeLessThan(100); // a few ms on an idle machine
  });

  it('takes any text', async () => {
    const [a, b] = [await start(), await start()];
    const heard = hear(b);
    const texts = ["it's; drop table", '"\\', 'äöü 猫 🐈', 'x'.repeat(500)];
    for (const text of texts) a.publish('task', text);
    await eventually('all to arrive', async () => heard.length === texts.length);
    expect(heard).toEqual(texts);
  });

  it('stops telling who stopped hearing', async () => {
    const [a, b] = [await start(), await start()];
    const heard: string[] = [];
    const stop = b.subscribe('task', (bodies) => heard.push(...bodies));
    const others = hear(b);
    stop();
    a.publish('task', 'x');
    await eventually('the other to hear', async () => others.length === 1);
    expect(heard).toEqual([]);
  });

  it('comes back by itself, says for how long it heard nothing, and brings what waited', async () => {
    const line = await newLine();
    const [a, b] = [await start(line), await start()];
    const [atA, atB] = [hear(a), hear(b)];
    const deaf: number[] = [];
    a.onReconnect((seconds) => deaf.push(seconds));
    line.cut();
    await sleep(1_500);
    b.publish('task', 'lost on a');
    a.publish('task', 'waits');
    await sleep(500);
    line.mend();
    await eventually('a to be back', async () => deaf.length > 0);
    expect(deaf).toHaveLength(1);
    expect(deaf[0]).toBeGreaterThanOrEqual(2);
    expect(deaf[0]).toBeLessThan(60);
    await eventually('what waited', async () => atB.includes('waits'));
    b.publish('task', 'again');
    await eventually('news again', async () => atA.includes('again'));
    expect(atA).toEqual(['again']);
  });

  it('notices a line that is dead without having been hung up', async () => {
    const line = await newLine();
    const [a, b] = [await start(line), await start()];
    const heard = hear(a);
    const deaf: number[] = [];
    a.onReconnect((seconds) => deaf.push(seconds));
    line.freeze();
    setTimeout(() => line.mend(), 6_000).unref();
    await eventually('a to be back', async () => deaf.length > 0, 60_000);
    b.publish('task', 'again');
    await eventually('news again', async () => heard.includes('again'));
  });

  it('says what it still has to say when it stops', async () => {
    const [a, b] = [await start(), await start()];
    const heard = hear(b);
    for (let at = 0; at < 2_000; at++) a.publish('task', `task_${at}`);
    await a.stop();
    await eventually('all to arrive', async () => heard.length === 2_000);
  });
});

if (hasRedis) {
  it('starts without a Redis that is away, and goes to it when it is there', async () => {
    const line = await CutLine.to('127.0.0.1', 1);
    await line.close();
    const bus = new RedisBus(`redis://127.0.0.1:${line.port}`);
    const startedAt = Date.now();
    await bus.start();
    expect(Date.now() - startedAt).toBeLessThan(30_000);
    bus.publish('task', 'x');
    await bus.stop();
  });
}
