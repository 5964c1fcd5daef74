import { bucketSums, costSeries, csvRows, rowsBy } from './usage-rows.ts';

const result = {
  model: 'gpt-image-2',
  errorCode: null,
  apiKeyId: null,
  tasks: 1,
  succeeded: 1,
  failed: 0,
  cancelled: 0,
  images: 1,
  videoSeconds: 0,
  costMicros: 250_000,
};
const failure = {
  ...result,
  errorCode: 'provider_timeout',
  tasks: 2,
  succeeded: 0,
  failed: 2,
  images: 0,
  costMicros: 0,
};
const data = [
  { startTime: 1_700_000_000, results: [result, failure] },
  { startTime: 1_700_003_600, results: [] },
  { startTime: 1_700_007_200, results: [failure] },
];

it('sums a bucket over its groups, and keeps those without tasks', () => {
  expect(bucketSums(data).map(({ succeeded, failed }) => [succeeded, failed])).toEqual([
    [1, 2],
    [0, 0],
    [0, 2],
  ]);
});

it('sums a group over the buckets; what did not fail has no error', () => {
  expect(rowsBy(data, 'error')).toMatchObject([{ id: 'provider_timeout', failed: 4, succeeded: 0 }]);
  expect(rowsBy(data, 'model')).toMatchObject([{ id: 'gpt-image-2', failed: 4, succeeded: 1 }]);
});

it('writes a line a bucket and group', () => {
  expect(csvRows(data, 'error', { currency: 'USD', nameOf: (id) => id || 'none' })).toEqual([
    ['from', 'error', 'succeeded', 'failed', 'cancelled', 'images', 'video_seconds', 'cost_USD'],
    ['2023-11-14T22:13:20.000Z', 'none', 1, 0, 0, 1, 0, 0.25],
    ['2023-11-14T22:13:20.000Z', 'provider_timeout', 0, 2, 0, 0, 0, 0],
    ['2023-11-15T00:13:20.000Z', 'provider_timeout', 0, 2, 0, 0, 0, 0],
  ]);
});

it('stacks the cost of the five dearest groups, and the others on top', () => {
  const costs = [1, 9, 8, 7, 6, 5, 2].map((costMicros, nth) => ({ ...result, model: `m${nth}`, costMicros }));
  const series = costSeries(
    [
      { startTime: 1, results: costs },
      { startTime: 2, results: [] },
    ],
    'model',
  );
  expect(series.ids).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
  expect(series.values).toEqual([
    [9, 8, 7, 6, 5, 3],
    [0, 0, 0, 0, 0, 0],
  ]);
  expect(series.hasOthers).toBe(true);
  expect(costSeries(data, 'error')).toMatchObject({ ids: [], hasOthers: true, values: [[250_000], [0], [0]] });
});
