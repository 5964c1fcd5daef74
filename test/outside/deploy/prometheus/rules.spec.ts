import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { load } from 'js-yaml';
import { describeWith, findTool } from '../tools.ts';
import { PROMETHEUS, RULES } from './prometheus.ts';

interface Rules {
  groups: { rules: { alert?: string; annotations?: { runbook?: string } }[] }[];
}

const RUNBOOK = 'docs/guides/runbook.md';
const runbook = readFileSync(RUNBOOK, 'utf8');
const headings = [...runbook.matchAll(/^### (\S+)$/gm)].map(([, heading]) => heading);
const { groups } = load(readFileSync(RULES, 'utf8')) as Rules;
const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
const objectives = [...runbook.matchAll(/^\| `(\w+)` /gm)].map(([, slo]) => slo!);

describe('the runbook', () => {
  it.each(alerts.map(({ alert, annotations }) => [alert!, annotations!.runbook!]))('explains %s', (_alert, link) => {
    const [page, heading] = link.split('#');
    expect(page).toBe(RUNBOOK);
    const wanted = objectives.map((slo) => heading!.replace('{{ $labels.slo }}', slo));
    for (const each of new Set(wanted)) expect(headings).toContain(each);
  });

  it('says of each heading what it means, how to see it and what to do', () => {
    for (const part of runbook.split(/^### /m).slice(1)) {
      if (part.startsWith('slo-reads')) continue; // refers to the heading before
      expect(part).toMatch(/\*\*Means\*\*.+\*\*See\*\*.+\*\*Do\*\*/s);
    }
  });
});

describeWith(PROMETHEUS, 'the rules for Prometheus', () => {
  const promtool = (...args: string[]) =>
    execFileSync(findTool('promtool')!, args, { cwd: dirname(RULES), encoding: 'utf8' });

  it('are well-formed, as is the configuration', () => {
    expect(promtool('check', 'rules', 'rules.yml')).toContain('SUCCESS');
    expect(promtool('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
  });

  it('fire each alert on its cause, and are quiet otherwise', () => {
    expect(promtool('test', 'rules', 'rules.test.yml')).toContain('SUCCESS');
    const tested = readFileSync(`${dirname(RULES)}/rules.test.yml`, 'utf8');
    for (const { alert } of alerts) expect(tested).toMatch(new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n`));
  });
});
