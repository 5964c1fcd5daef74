// Own settings: frequent sweeps, for which an erasure waits. Own service: the tour drains it.
import { hostname } from 'node:os';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type OwnService, startOwnService } from '../support/service.ts';
import { openApiFaults } from '../support/openapi-answers.ts';
import { operationsWithExamples, type Recording } from '../contract/examples/recorder.ts';
import { differences } from '../contract/examples/same-shape.ts';
import { Tidy } from '../contract/examples/tidy.ts';
import { tour } from '../contract/examples/tour.ts';

/** `npm run examples` writes what this run records. */
const isRecording = process.env.RECORD_EXAMPLES === '1';

const FILE = new URL('../../docs/api/examples.json', import.meta.url);
const EXAMPLES = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, { request?: unknown; response?: unknown }>;

describe('the examples of openapi.json', () => {
  let service: OwnService;
  let real: Record<string, Recording>;
  beforeAll(async () => {
    service = await startOwnService({ TASK_SWEEP_S: '0.3' });
    const startedAtS = Math.floor(Date.now() / 1000);
    const recordings = await tour(service);
    const tidy = new Tidy(startedAtS, [
      [/http:\/\/127\.0\.0\.1:\d+\/hooks/g, 'https://shop.example/hooks'],
      [service.baseUrl, 'http://localhost:3000'],
      [new RegExp(`\\b${hostname()}\\b`, 'g'), 'host-1'],
      [/\b(host-1[.:-])[\w.:-]+/g, '$112'],
    ]);
    real = Object.fromEntries([...recordings].map(([name, each]) => [name, tidy.value(each) as Recording]));
    if (isRecording) await writeFile(FILE, `${JSON.stringify(real, null, 2)}\n`);
  });
  afterAll(() => service.close());

  it('are there for every operation that answers with JSON or text', () => {
    expect(operationsWithExamples().filter((name) => !(name in EXAMPLES))).toEqual([]);
  });

  it('have the fields and types of what the service answers now', () => {
    if (isRecording) return;
    for (const [name, { request, response }] of Object.entries(real)) {
      const example = EXAMPLES[name];
      expect([name, differences(example?.response, response), differences(example?.request, request)]).toEqual([
        name,
        [],
        [],
      ]);
    }
  });

  it('are allowed by the schemas beside them', () => {
    for (const [name, { response }] of Object.entries(EXAMPLES)) {
      const [method = '', path = ''] = name.split(' ');
      if (typeof response !== 'object' || response === null) continue;
      const faults = ['200', '201'].map((status) =>
        openApiFaults({ method, path, status: Number(status), body: response }),
      );
      expect([name, faults.some((each) => each.length === 0) ? [] : faults]).toEqual([name, []]);
    }
  });
});
