import type { ModelPriceView, PriceUnit } from '../../models/model-pricing.view.ts';
import { type Amount, AMOUNTS, type Price } from './price.ts';

const UNITS: Record<Amount, PriceUnit> = {
  per_task: 'task',
  per_image: 'image',
  per_second: 'second',
  per_million_input_tokens: 'million_input_tokens',
  per_million_output_tokens: 'million_output_tokens',
};

/** A binding that may serve the model. */
interface Candidate {
  provider: string;
  upstreamModel: string;
}

/**
 * The prices that a client of a model may have to pay. Rows that name both resolution and quality come first, then rows
 * that name one of the two. If several bindings may serve the model, the highest price counts, because the client does
 * not choose the binding.
 */
export function priceList(prices: readonly Price[], model: string, candidates: readonly Candidate[]): ModelPriceView[] {
  const dearest = new Map<string, ModelPriceView>();
  for (const candidate of candidates) {
    for (const row of rowsOf(prices, model, candidate)) {
      const key = `${row.resolution} ${row.quality} ${row.unit}`;
      const other = dearest.get(key);
      if (!other || other.amount_micros < row.amount_micros) dearest.set(key, row);
    }
  }
  // A row without resolution and quality is for every request that no row above it fits. So it goes last. Otherwise it
  // would hide a more specific row of another binding.
  const named = ({ resolution, quality }: ModelPriceView) =>
    Number(resolution !== undefined) + Number(quality !== undefined);
  return [...dearest.values()].sort((a, b) => named(b) - named(a));
}

function rowsOf(prices: readonly Price[], model: string, { provider, upstreamModel }: Candidate): ModelPriceView[] {
  const rows: ModelPriceView[] = [];
  for (const { fits, amounts } of prices) {
    if ((fits.provider ?? provider) !== provider || (fits.model ?? model) !== model) continue;
    if ((fits.upstream_model ?? upstreamModel) !== upstreamModel) continue;
    const { resolution, quality } = fits;
    for (const name of AMOUNTS) {
      const amount = amounts[name];
      if (amount === undefined) continue;
      rows.push({
        ...(resolution !== undefined && { resolution }),
        ...(quality !== undefined && { quality }),
        unit: UNITS[name],
        amount_micros: Number(amount),
      });
    }
    if (resolution === undefined && quality === undefined) break; // this row fits everything, so no later row counts
  }
  return rows;
}
