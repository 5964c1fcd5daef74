import { Command, Option } from 'commander';
import type { UsageQuery } from '@darkroom/client';
import type { UsagePage } from '@darkroom/client';
import { connect, connected, type Connection } from '../client/connect.ts';
import { moment, past, wholeNumber } from '../terminal/options.ts';
import { table } from '../terminal/table.ts';

interface Options extends Connection {
  start: number;
  end?: number;
  by: string;
  timezone?: string;
  group?: string;
  keyId?: string;
  limit?: number;
  page?: string;
}

type Result = Record<string, unknown>;

const MICROS = 1_000_000;

/** `darkroom usage --start 30d`: calls the service over HTTP, as any client does. */
export function usageCommand(): Command {
  const command = new Command('usage')
    .description('Show what tasks used and cost, over time.')
    .addOption(
      new Option('--start <when>', 'a date, or 30d or 12h ago').argParser(past).default(past('30d'), '30d ago'),
    )
    .option('--end <when>', 'a date (default: now)', moment)
    .option('--by <width>', 'length of a bucket: 1h, 1d, 1M (a month) or all', '1d')
    .option('--timezone <zone>', 'where days and months begin, such as Europe/Berlin (default: UTC)')
    .option('--group <fields>', 'any of model,kind,provider,resolution,source,batch_id,api_key_id,metadata.<key>')
    .option('--key-id <id>', 'another API key, key_…, or all; needs the scope keys:manage')
    .option('--limit <n>', 'buckets per page, 1 to 400', wholeNumber)
    .option('--page <page>', 'next_page of the page before')
    .action(async (options: Options) => {
      const page = await connect(options).usage.get(queryOf(options));
      console.log(options.json ? JSON.stringify(page, null, 2) : textOf(page, options.timezone));
    });
  return connected(command, 'usage --start 7d --group model');
}

function queryOf({ start, end, by, timezone, group, keyId, limit, page }: Options): UsageQuery {
  // This also splits a quoted name at its commas. The client joins the parts again in the text that it sends.
  const query = { start_time: start, end_time: end, bucket_width: by, timezone, group_by: group?.split(',') };
  return { ...query, api_key_id: keyId, limit, page } as UsageQuery; // the service checks the values
}

/** A page of usage as a table, with the total in the last row. Leaves out buckets without tasks. */
function textOf({ currency, data, totals, next_page }: UsagePage, timeZone = 'UTC'): string {
  // Formats times as 2026-11-22 00:00.
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  const rows = data.flatMap(({ start_time, results }) =>
    results.map((result) => ({
      start: clock.format(start_time * 1000),
      ...row(result, currency),
    })),
  );
  const all = { start: 'total', ...row(totals, currency) };
  const more = next_page === null ? '' : `\nMore: --page ${next_page}`;
  return table([...rows, all].map((one) => ({ ...one }))) + more;
}

function row(result: Result, currency: string): Record<string, string> {
  const groups = Object.entries(result).filter(([, value]) => typeof value === 'string' && value !== 'usage.result');
  const money = (name: string) => (Number(result[name]) / MICROS).toFixed(6).replace(/0{1,4}$/, '');
  return {
    group: groups.map(([, value]) => value).join(' ') || '-',
    tasks: String(result.tasks),
    succeeded: String(result.succeeded),
    images: String(result.images),
    seconds: String(result.video_seconds),
    [currency]: money('cost_micros'),
    assumed: money('assumed_micros'),
    unpriced: String(result.unpriced_tasks),
  };
}
