import { Injectable } from '@nestjs/common';
import { DAY_S } from '../../platform/schema/time.ts';
import { UsageService } from '../../usage/usage.service.ts';
import type { UsagePageView, UsageResultView } from '../../usage/usage.view.ts';
import { Lookups } from '../running/lookups.ts';
import { checkArguments } from '../schemas/check-arguments.ts';
import { toolInput } from '../schemas/tool-arguments.ts';
import { READS, type Tool, type ToolAnswer, type ToolArguments, type ToolCall } from '../contract/tool.ts';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 90;
const MICROS = 1_000_000;

@Injectable()
export class GetUsageTool implements Tool {
  readonly name = 'get_usage';
  readonly title = 'Get usage';
  readonly description = 'Sums what your tasks of the last days used and cost, by model.';
  readonly input = toolInput({
    days: { type: 'integer', minimum: 1, maximum: MAX_DAYS, default: DEFAULT_DAYS, description: 'How many days back.' },
  });
  readonly annotations = READS;
  readonly scope = 'tasks:read';
  readonly bucket = 'read';

  constructor(
    private readonly usage: UsageService,
    private readonly lookups: Lookups,
  ) {}

  async run(call: ToolCall, given: ToolArguments): Promise<ToolAnswer> {
    checkArguments(this.input, given);
    const days = (given.days as number | undefined) ?? DEFAULT_DAYS;
    const start_time = Math.floor(Date.now() / 1000) - days * DAY_S;
    const page = await this.lookups.take(call, () =>
      this.usage.page(call.caller.apiKeyId, { start_time, bucket_width: 'all', group_by: 'model' }),
    );
    return { content: [{ type: 'text', text: textOf(page, days) }], structuredContent: { ...page } };
  }
}

function textOf({ data, totals, currency }: UsagePageView, days: number): string {
  const cost = (micros: number): string => `${(micros / MICROS).toFixed(2)} ${currency}`;
  const line = ({ model, tasks, images, video_seconds: seconds, cost_micros: micros }: UsageResultView) =>
    `- ${model}: ${tasks} tasks, ${images} images, ${seconds} s of video, ${cost(micros)}`;
  const unpriced = totals.unpriced_tasks > 0 ? ` ${totals.unpriced_tasks} tasks have no price.` : '';
  const total = `${totals.tasks} ${totals.tasks === 1 ? 'task' : 'tasks'} in ${days === 1 ? 'one day' : `${days} days`} cost ${cost(totals.cost_micros)}.${unpriced}`;
  return [total, ...data.flatMap(({ results }) => results.map(line))].join('\n');
}
