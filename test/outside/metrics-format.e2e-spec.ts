import { spawnSync } from 'node:child_process';
import { Scrape } from '../support/metrics.ts';
import { joinService } from '../support/service.ts';

it('the metrics please promtool', async () => {
  const service = await joinService();
  const { text } = await Scrape.of(service.baseUrl);
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  await service.close();
});
