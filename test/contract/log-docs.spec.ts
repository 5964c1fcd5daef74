import { readFileSync } from 'node:fs';
import { LOG_CONTEXTS } from '../../src/platform/config/log-levels.ts';
import { files, logEvents } from '../support/log-calls.ts';

/** Event, levels, contexts, fields, meaning. */
const ROW = /^\| `([\w.]+)` +\| ([\w, ]+?) +\| ([\w, ]+?) +\| (.*?) +\| (.+?) +\|$/gm;

const page = readFileSync(new URL('../../docs/guides/logs.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(ROW)].map(([, event, levels, contexts, fields, meaning]) => ({
  event: event as string,
  levels: (levels as string).split(', ').sort(),
  contexts: (contexts as string).split(', ').sort(),
  fields: [...(fields as string).matchAll(/`(\w+)`/g)].map(([, field]) => field as string).sort(),
  meaning: meaning as string,
}));

describe('docs/guides/logs.md', () => {
  const logged = logEvents();

  it('lists every event of the code once, with its levels, contexts and fields, and no other', () => {
    const documented = rows.map(({ event, levels, contexts, fields }) => ({ event, levels, contexts, fields }));
    expect(logged.length).toBeGreaterThan(60);
    expect(documented.sort(byEvent)).toEqual(logged.sort(byEvent));
  });

  it('says what each means', () => {
    expect(rows.filter(({ meaning }) => !/^[A-Z`].{15,}\.$/.test(meaning))).toEqual([]);
  });

  it('names every context that LOG_LEVELS takes, and LOG_LEVELS takes every context', () => {
    const named = files.flatMap((file) => [...file.text.matchAll(/new Logger\('(\w+)'\)/g)].map(([, name]) => name));
    expect([...new Set([...named, 'requests'])].sort()).toEqual([...LOG_CONTEXTS]);
    for (const context of LOG_CONTEXTS) expect(page).toContain(`\`${context}\``);
  });
});

function byEvent(a: { event: string }, b: { event: string }): number {
  return a.event < b.event ? -1 : 1;
}
