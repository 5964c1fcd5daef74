import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOwnService } from '../../../support/service.ts';
import { testEnv } from '../../../support/test-env.ts';
import { freePort } from '../../../support/free-port.ts';
import { spawnService } from '../../../support/process.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith, say } from '../tools.ts';
import { Prometheus, PROMETHEUS } from './prometheus.ts';

/** Minutes become seconds, so that a test need not wait for them: what must last for 10 min must here last for 10 s. */
const hasty = (rules: string): string =>
  rules.replace(/(for: \d+)m$/gm, '$1s').replace(/\[(\d+)m\]/g, (_, minutes) => `[${Number(minutes) * 3}s]`);

const CAT = { model: 'gpt-image-2', prompt: 'a cat' };

describeWith(PROMETHEUS, 'the alerts of a real Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-alerts-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Waits for the alert, then for as long again as any other would need. */
  async function expectOnly(prometheus: Prometheus, alert: string): Promise<void> {
    await eventually(alert, async () => (await prometheus.firing()).includes(alert));
    const quietUntil = Date.now() + 15_000;
    await eventually('the time in which another could fire', async () => {
      expect(await prometheus.firing()).toEqual([alert]);
      return Date.now() > quietUntil;
    });
  }

  it('name a killed worker', async () => {
    const api = await startOwnService({ ROLE: 'api' });
    const second = await startOwnService({ ROLE: 'worker', DATA_DIR: api.env.DATA_DIR! }, api.database);
    const port = String(await freePort());
    const { env } = await testEnv(api.database.url, { ...api.env, ROLE: 'worker', PORT: port });
    const victim = await spawnService({ ...env, PUBLIC_URL: `http://127.0.0.1:${port}` });
    const prometheus = await Prometheus.start([api.baseUrl, second.baseUrl, `http://127.0.0.1:${port}`], hasty);
    try {
      for (let nth = 0; nth < 20; nth += 1) await api.api.create(CAT);
      await eventually('a scrape', async () => (await prometheus.query('up == 1')).length === 3);
      expect(await prometheus.firing()).toEqual([]);
      await victim.kill('SIGKILL');
      await expectOnly(prometheus, 'DarkroomProcessLost');
    } finally {
      await prometheus.stop();
      await victim.kill('SIGKILL');
      await second.close();
      await api.close();
    }
  });

  it('name a dead provider', async () => {
    const file = join(folder, 'providers.yaml');
    const nobody = `http://127.0.0.1:${await freePort()}`;
    writeFileSync(
      file,
      `models:
  gpt-image-2: [{ provider: sandbox, model: sandbox }]
  nano-banana-2: [{ provider: fal, model: fal-ai/nano-banana-2, base_url: "${nobody}" }]`,
    );
    const service = await startOwnService({ PROVIDERS: file, FAL_KEY: 'key' });
    const prometheus = await Prometheus.start([service.baseUrl], hasty);
    try {
      for (let nth = 0; nth < 10; nth += 1) {
        await service.api.create(CAT);
        await service.api.create({ model: 'nano-banana-2', prompt: 'a cat' });
      }
      await expectOnly(prometheus, 'DarkroomProviderDown');
    } finally {
      await prometheus.stop();
      await service.close();
    }
  });

  it('name a full disk', async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]).status !== 0) {
      say('SKIPPED the alert of a full disk: this user cannot mount a small one');
      return;
    }
    const data = join(disk, 'data');
    mkdirSync(data);
    const service = await startOwnService({ DATA_DIR: data });
    const prometheus = await Prometheus.start([service.baseUrl], hasty);
    try {
      for (let nth = 0; nth < 3; nth += 1) await service.api.create(CAT);
      await eventually('a scrape', async () => (await prometheus.query('up == 1')).length === 1);
      expect(await prometheus.firing()).toEqual([]);
      spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'full')}`, 'bs=64k']);
      for (let nth = 0; nth < 3; nth += 1) await service.api.create(CAT);
      await expectOnly(prometheus, 'DarkroomStorageFails');
    } finally {
      await prometheus.stop();
      await service.close().finally(() => spawnSync('umount', [disk]));
    }
  });
});
