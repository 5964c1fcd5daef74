// Reads a changing folder of models 1,000 times and checks a request of each version. Prints the bytes in use after a tenth and at the end.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const dist = new URL('../../dist/', import.meta.url).href;
const { ModelFolder } = await import(`${dist}models/declaration/model-folder.js`);
const { catalog } = await import(`${dist}models/catalog.js`);
const { checkBindings } = await import(`${dist}providers/bindings/check-bindings.js`);
const { takesUnchanged } = await import(`${dist}generation/accept/parse-generation.js`);

const RELOADS = 1_000;
const path = mkdtempSync(join(tmpdir(), 'darkroom-reloads-'));
const folder = new ModelFolder(path, { createdAtOf: () => 0, taken: new Map(), checkBindings });
const text = (id, maxLength) => `id: reload-${id}
kind: image
description: A model.
parameters: { prompt: { maxLength: ${maxLength} } }
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings: [{ provider: sandbox }]
`;
const used = [];
for (let reload = 1; reload <= RELOADS; reload++) {
  for (const id of ['a', 'b', 'c']) writeFileSync(join(path, `${id}.yaml`), text(id, reload));
  const { models, faults } = await folder.read();
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  catalog.declare(models);
  for (const model of models) takesUnchanged(model, { prompt: 'x', aspect_ratio: '1:1', resolution: 'tiny' });
  if (reload % (RELOADS / 10) > 0) continue;
  globalThis.gc();
  used.push(process.memoryUsage().heapUsed);
}
rmSync(path, { recursive: true });
process.stdout.write(JSON.stringify([used[0], used.at(-1)]));
