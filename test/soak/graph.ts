import type { RunRecord } from './run-record.ts';
import type { Sample } from './sampler.ts';

interface Series {
  name: string;
  color: string;
  read(sample: Sample, before: Sample | undefined): number | null | undefined;
}

const WIDTH = 960;
const PANEL = 130;
const GAP = 46;
const [LEFT, RIGHT, TOP] = [64, 132, 56];
const [BLUE, ORANGE, GREEN, PURPLE, GREY] = ['#1f5fa8', '#c2571a', '#2f7d4f', '#7a4fa3', '#6b7280'];

const memoryOf = (name: string, color: string): Series => ({
  name,
  color,
  read: ({ processes }) => processes[name]?.rssMb,
});
const rowsOf = (table: string, color: string): Series => ({
  name: table.replace('webhook_', ''),
  color,
  read: ({ rows }) => rows[table],
});

const PANELS: { title: string; series: Series[] }[] = [
  {
    title: 'Resident memory, MiB (api-2 and worker-2 are killed again and again)',
    series: [
      memoryOf('api-2', '#a9c4e4'),
      memoryOf('worker-2', '#ecc4a8'),
      memoryOf('api-1', BLUE),
      memoryOf('worker-1', ORANGE),
    ],
  },
  {
    title: 'Heap in use, MiB',
    series: [
      { name: 'api-1', color: BLUE, read: ({ processes }) => processes['api-1']?.heapMb },
      { name: 'worker-1', color: ORANGE, read: ({ processes }) => processes['worker-1']?.heapMb },
    ],
  },
  {
    title: 'Rows',
    series: [
      rowsOf('webhook_deliveries', PURPLE),
      rowsOf('tasks', BLUE),
      rowsOf('webhook_events', GREEN),
      rowsOf('idempotency_keys', ORANGE),
      rowsOf('audit_events', GREY),
    ],
  },
  { title: 'Files in storage', series: [{ name: 'files', color: BLUE, read: ({ files }) => files }] },
  {
    title: 'Connections to the database, and descriptors of the long-lived processes',
    series: [
      { name: 'connections', color: GREEN, read: ({ connections }) => connections },
      { name: 'api-1', color: BLUE, read: ({ processes }) => processes['api-1']?.descriptors },
      { name: 'worker-1', color: ORANGE, read: ({ processes }) => processes['worker-1']?.descriptors },
    ],
  },
  {
    title: 'Tasks ended a minute',
    series: [
      {
        name: 'tasks',
        color: BLUE,
        read: (sample, before) => before && ((sample.ended - before.ended) / (sample.at - before.at)) * 60,
      },
    ],
  },
];

/** Draws the samples as an SVG of stacked panels with one time axis; each fault is a mark below the last panel. */
export function draw(samples: Sample[], { faults }: Pick<RunRecord, 'faults'>, title: string): string {
  const last = samples.at(-1)?.at ?? 1;
  const x = (seconds: number) => LEFT + (seconds / last) * (WIDTH - LEFT - RIGHT);
  const bottom = TOP + PANELS.length * (PANEL + GAP);
  const panels = PANELS.map(({ title: name, series }, nth) =>
    panel(samples, x, TOP + nth * (PANEL + GAP), { name, series }),
  );
  const marks = faults.map(
    ({ at }) => `<line x1="${f(x(at))}" x2="${f(x(at))}" y1="${bottom - 14}" y2="${bottom - 4}" stroke="#b42318"/>`,
  );
  const step = last > 5_400 ? 1_200 : last > 1_200 ? 300 : 60;
  const ticks = Array.from({ length: Math.floor(last / step) + 1 }, (_, nth) => nth * step).map((at) =>
    text(x(at), bottom + 14, `${at / 60} min`, 'middle'),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 30}" font-family="system-ui, sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="${LEFT}" y="24" font-size="15" fill="#111827">${title}</text>
${panels.join('\n')}
${text(LEFT - 8, bottom - 5, 'faults', 'end')}
${marks.join('')}
${ticks.join('')}
</svg>
`;
}

function panel(
  samples: Sample[],
  x: (seconds: number) => number,
  top: number,
  { name, series }: { name: string; series: Series[] },
): string {
  const lines = series.map(({ read, ...line }) => ({
    ...line,
    points: samples.flatMap((sample, at) => {
      const value = read(sample, samples[at - 1]);
      // A process that was just killed has no figures.
      return Number.isFinite(value) ? [{ at: sample.at, value: value as number }] : [];
    }),
  }));
  const highest = niceCeiling(Math.max(1, ...lines.flatMap(({ points }) => points.map(({ value }) => value))));
  const y = (value: number) => top + PANEL - (value / highest) * PANEL;
  const grid = [0, 0.5, 1].map((share) => {
    const at = f(y(highest * share));
    return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#e5e7eb"/>${text(LEFT - 8, y(highest * share) + 4, String(highest * share), 'end')}`;
  });
  const paths = lines.map(
    ({ color, points }) =>
      `<polyline fill="none" stroke="${color}" stroke-width="1.4" points="${points.map(({ at, value }) => `${f(x(at))},${f(y(value))}`).join(' ')}"/>`,
  );
  const labels = lines
    .map(({ name: label, color, points }) => ({ label, color, at: y(points.at(-1)?.value ?? 0) }))
    .sort((a, b) => a.at - b.at);
  labels.forEach((label, nth) => {
    if (nth > 0) label.at = Math.max(label.at, labels[nth - 1]!.at + 13);
  });
  const overflow = Math.max(0, (labels.at(-1)?.at ?? 0) - (top + PANEL));
  return [
    `<text x="${LEFT}" y="${top - 10}" font-size="12" fill="#374151">${name}</text>`,
    ...grid,
    ...paths,
    ...labels.map(({ label, color, at }) => text(WIDTH - RIGHT + 8, at - overflow + 4, label, 'start', color)),
  ].join('\n');
}

const text = (x: number, y: number, content: string, anchor: string, color = '#6b7280'): string =>
  `<text x="${f(x)}" y="${f(y)}" text-anchor="${anchor}" fill="${color}">${content}</text>`;

const f = (value: number): string => value.toFixed(1);

/** A round number, at least as large. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= value) ?? 10) * power;
}
