import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.ts';
import { eventually } from '../../../support/wait.ts';
import { findTool } from '../tools.ts';

/** What Debian's package holds; `describeWith` takes it. */
export const PROMETHEUS = { prometheus: 'apt-get install prometheus', promtool: 'apt-get install prometheus' };

export const RULES = new URL('../../../../deploy/prometheus/rules.yml', import.meta.url).pathname;

interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

/** A real Prometheus that scrapes services of a test every second. */
export class Prometheus {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
    private readonly folder: string,
  ) {}

  /**
   * @param baseUrls of the processes
   * @param adapt changes the rules, which are evaluated every second
   */
  static async start(baseUrls: string[], adapt: (rules: string) => string = (rules) => rules): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'darkroom-prometheus-'));
    writeFileSync(join(folder, 'rules.yml'), adapt(readFileSync(RULES, 'utf8')));
    const targets = baseUrls.map((url) => `'${new URL(url).host}'`).join(', ');
    writeFileSync(
      join(folder, 'prometheus.yml'),
      `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
scrape_configs:
  - { job_name: darkroom, static_configs: [{ targets: [${targets}] }] }
`,
    );
    const port = await freePort();
    const options = [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ];
    const child = spawn(findTool('prometheus')!, options, { stdio: 'ignore' });
    const prometheus = new Prometheus(child, `http://127.0.0.1:${port}`, folder);
    await eventually('Prometheus to start', () =>
      fetch(`${prometheus.url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return prometheus;
  }

  async query(expr: string): Promise<Sample[]> {
    const body = new URLSearchParams({ query: expr });
    const answer = await fetch(`${this.url}/api/v1/query`, { method: 'POST', body });
    const { status, data, error } = (await answer.json()) as {
      status: string;
      error?: string;
      data: { result: Sample[] };
    };
    if (status !== 'success') throw new Error(`${expr}: ${error}`);
    return data.result;
  }

  /** The names of the alerts that fire now, each once. */
  async firing(): Promise<string[]> {
    const samples = await this.query('ALERTS{alertstate="firing"}');
    return [...new Set(samples.map(({ metric }) => metric.alertname!))].toSorted();
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
