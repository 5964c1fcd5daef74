import { useEffect, useState } from 'react';
import { run } from '../../api/client.ts';
import { toCamelCase } from '../../format/names.ts';
import { money } from '../../format/numbers.ts';
import { EstimateCost, type Model } from './create.documents.ts';
import type { Target } from './fan-out.ts';

/** The pause after the last change before the service is asked for the cost. */
const TYPING_MS = 400;

export interface CostWords {
  text: string;
  withinBudget: boolean;
}

/** What the requests cost together, if the operator has set prices; null: unknown. */
export function useCost(models: readonly Model[], targets: readonly Target[], repeat: number): CostWords | null {
  const [cost, setCost] = useState<CostWords | null>(null);
  const priced = targets.filter(({ model }) => models.some(({ id, pricing }) => id === model && pricing !== null));
  // The price does not depend on the prompt. With a constant prompt, typing sends no request.
  const requests = priced.map(({ request }) => ({ ...request, prompt: 'x', metadata: undefined }));
  const key = JSON.stringify(requests);
  const isPartial = priced.length < targets.length;

  useEffect(() => {
    const inputs = JSON.parse(key) as Target['request'][];
    let isOld = false;
    const ask = async () => {
      const answers = await Promise.all(
        inputs.map((input) => run(EstimateCost, { input: toCamelCase(input) as never })),
      );
      if (isOld) return;
      const costs = answers.map(({ estimateGeneration }) => estimateGeneration);
      const currency = costs[0]?.cost.currency;
      const micros = costs.reduce((sum, each) => sum + each.cost.amountMicros, 0) * repeat;
      const isKnown =
        currency && costs.every(({ cost: each }) => each.currency === currency && each.basis !== 'UNPRICED');
      setCost(
        isKnown
          ? {
              text: `${isPartial ? 'from' : '≈'} ${money(micros, currency)}`,
              withinBudget: costs.every(({ withinBudget }) => withinBudget),
            }
          : null,
      );
    };
    // An incomplete form is refused, so it has no price.
    const timer = setTimeout(() => void ask().catch(() => !isOld && setCost(null)), TYPING_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [key, repeat, isPartial]);
  return priced.length > 0 ? cost : null;
}
