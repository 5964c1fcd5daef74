import { counter, Tally } from '../../platform/observe/measuring/declare.ts';
import { OperatorCounts } from '../../platform/observe/measuring/operator-counts.ts';

const lookups = new Tally(
  'darkroom_auth_lookups_total',
  'API keys that were checked: from memory, or found, unknown or refused (revoked, expired) in the database.',
  ['result'],
  (result) => ({ result }),
);

export const rateRefusals = counter('darkroom_rate_refusals_total', 'Requests over the rate limit of their API key.', [
  'bucket',
]);

/** The same by API key, for operators. */
export const refusalsByKey = new OperatorCounts();

export const rateLeases = counter(
  'darkroom_rate_leases_total',
  'Shares of a rate limit that this process took: from the count of all processes, or on credit while it was away.',
  ['result'],
);

for (const bucket of ['create', 'read']) rateRefusals.inc({ bucket }, 0);
for (const result of ['leased', 'credit']) rateLeases.inc({ result }, 0);

export function keyChecked(result: 'cached' | 'found' | 'unknown' | 'refused'): void {
  lookups.add(result);
}
