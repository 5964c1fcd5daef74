import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { countEvents, OBJECTIVES } from './objectives.ts';

interface Rule {
  record?: string;
  expr: string;
  labels?: { slo?: string };
}

const rules = (
  load(readFileSync(new URL('../../../deploy/prometheus/rules.yml', import.meta.url), 'utf8')) as {
    groups: { rules: Rule[] }[];
  }
).groups.flatMap((group) => group.rules);

const ruleOf = (record: string, name: string) =>
  rules.find((rule) => rule.record === record && rule.labels?.slo === name)!.expr;

const named = (name: string) => OBJECTIVES.find((objective) => objective.name === name)!;

describe('the objectives', () => {
  it('are those of the rules for Prometheus, with their budgets, metrics and bounds', () => {
    const budgets = rules.filter(({ record }) => record === 'darkroom:slo_budget');
    expect(OBJECTIVES.map(({ name, budget }) => [name, `vector(${budget})`])).toEqual(
      budgets.map(({ labels, expr }) => [labels!.slo, expr]),
    );
    for (const { name, metric, isBad } of OBJECTIVES) {
      const bad = ruleOf('darkroom:slo_bad:rate5m', name);
      expect([name, bad.includes(metric)]).toEqual([name, true]);
      if (typeof isBad !== 'number') continue;
      expect([name, new RegExp(`le=~?"${String(isBad).replace('.', '\\.')}["|]`).test(bad)]).toEqual([name, true]);
    }
  });

  it('count what the rules count as bad', () => {
    const [, anyCode] = /error_type!~"([^"]+)"/.exec(ruleOf('darkroom:slo_bad:rate5m', 'requests'))!;
    const { isBad } = named('requests') as { isBad: (labels: object) => boolean };
    const excluded = anyCode!.split('|').map((code) => code.replace('.+', 'unavailable'));
    for (const error_type of excluded) expect(isBad({ http_response_status_code: '503', error_type })).toBe(false);
    for (const error_type of ['internal_error', 'service_unavailable', undefined]) {
      expect(isBad({ http_response_status_code: '500', error_type })).toBe(true);
    }
    expect(isBad({ http_response_status_code: '429', error_type: 'internal_error' })).toBe(false);
    const [, ofService] = /error_code=~"([^"]+)"/.exec(ruleOf('darkroom:slo_bad:rate5m', 'tasks'))!;
    const tasks = named('tasks') as { isBad: (labels: object) => boolean };
    for (const error_code of ofService!.split('|')) expect(tasks.isBad({ error_code })).toBe(true);
    expect(tasks.isBad({ error_code: 'provider_unavailable' })).toBe(false);
    expect(tasks.isBad({})).toBe(false);
  });

  it('read histograms by their buckets', () => {
    const labels = { http_request_method: 'POST', http_route: '/v1/generations', http_response_status_code: '201' };
    const series = (name: string, value: number, le?: number) => ({
      name: `http_server_request_duration_seconds_${name}`,
      labels: { ...labels, ...(le !== undefined && { le }) },
      value,
    });
    const samples = [
      series('bucket', 5, 0.1),
      series('bucket', 7, 0.25),
      series('bucket', 9, 0.5),
      series('count', 10),
    ];
    expect(countEvents(named('creates'), samples)).toEqual({ events: 10, bad: 3 });
    expect(countEvents(named('reads'), samples)).toEqual({ events: 0, bad: 0 });
    const failed = { ...series('count', 2), labels: { ...labels, http_response_status_code: '500' } };
    expect(countEvents(named('requests'), [...samples, failed])).toEqual({ events: 12, bad: 2 });
  });
});
