import type { Fact } from '../../../platform/database/database-facts.ts';
import { STATE } from './process-rows.ts';

interface ProcessCountRow {
  counts: { role: string; state: string; count: number }[] | null;
}

export const PROCESS_FACT: Fact<ProcessCountRow> = {
  name: 'processes',
  text: `
    select json_agg(p) as counts from (
      select role, ${STATE} as state, count(*)::int as count from processes group by 1, 2) p`,
};
