import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WIDEST } from '../../models/declaration/vocabulary.ts';
import { loadTemplate, SHIPPED_TEMPLATES } from './load-template.ts';
import { slotsOf } from './slots.ts';
import { parseTemplate, TemplateError } from './template.ts';

const workflow = (inputs: Record<string, unknown>) => ({ 1: { class_type: 'Any', inputs } });

it.each([
  ['export', { nodes: [], links: [] }],
  ['workflows', {}],
  ['must NOT have additional properties', { workflows: [workflow({ text: '{{prompt}}' })], fps: 24 }],
  ['/max_batch must be >= 1', { workflows: [workflow({ text: '{{prompt}}' })], max_batch: 0 }],
  ['workflow 1 has no {{prompt}}', workflow({ text: 'a cat' })],
  ['workflow 2 has no {{prompt}}', { workflows: [workflow({ text: '{{prompt}}' }), workflow({})] }],
  ['unknown slot {{widht}}', workflow({ text: '{{prompt}}', deep: [{ width: '{{widht}}' }] })],
  ['unknown slot {{image_51}}', workflow({ text: '{{prompt}}', image: '{{image_51}}' })],
  ['frames_per_second is not given', workflow({ text: '{{prompt}}', length: '{{frames}}' })],
  ['the file must be object', ['{{prompt}}']],
])('reports to the operator: %s', (message, json) => {
  expect(() => parseTemplate(json)).toThrow(TemplateError);
  expect(() => parseTemplate(json)).toThrow(message.replace('export', 'Export (API)'));
});

it('accepts a single workflow as exported by ComfyUI', () => {
  const exported = {
    3: { inputs: { text: '{{ prompt }}', seed: 5 }, class_type: 'Any', _meta: { title: 'Any {{x}}' } },
  };
  expect(parseTemplate(exported)).toEqual({ workflows: [exported] });
});

it('has a slot for each reference image that a declaration can allow', () => {
  expect(slotsOf(parseTemplate(workflow({ text: '{{prompt}}', image: '{{image_50}}' })).workflows[0]!)).toContain(
    `image_${WIDEST.maxItems}`,
  );
});

it.each(Object.entries(SHIPPED_TEMPLATES))(
  'ships a workflow for %s that is plain data, and whose links lead somewhere',
  (_, shipped) => {
    expect(parseTemplate(JSON.parse(JSON.stringify(shipped)))).toEqual(shipped);
    for (const graph of shipped.workflows) {
      for (const slot of ['width', 'height', 'seed', 'batch_size'] as const) expect(slotsOf(graph)).toContain(slot);
      const links = Object.values(graph)
        .flatMap(({ inputs }) => Object.values(inputs))
        .filter((value): value is [string, number] => Array.isArray(value));
      expect(links.filter(([node]) => !Object.hasOwn(graph, node))).toEqual([]);
      const used = new Set(links.map(([node]) => node));
      expect(Object.keys(graph).filter((node) => !used.has(node))).toEqual(['save']);
    }
  },
);

describe('a file', () => {
  let directory: string;
  beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'template-spec-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('is read again once it has changed', () => {
    const path = join(directory, 'a.json');
    writeFileSync(path, JSON.stringify(workflow({ text: '{{prompt}}' })));
    const first = loadTemplate(path, 'gpt-image-2');
    expect(loadTemplate(path, 'gpt-image-2')).toBe(first);
    writeFileSync(path, JSON.stringify(workflow({ text: '{{prompt}}, in oil' })));
    expect(loadTemplate(path, 'gpt-image-2').workflows[0]?.[1]?.inputs).toEqual({ text: '{{prompt}}, in oil' });
  });

  it.each(['missing.json', 'no-such-template'])('that does not exist is named: %s', (name) => {
    expect(() => loadTemplate(name, 'gpt-image-2')).toThrow(name);
    expect(() => loadTemplate(name, 'gpt-image-2')).toThrow(TemplateError);
  });
});

it('ships nothing for video models', () => {
  expect(() => loadTemplate('default', 'sora-2')).toThrow(TemplateError);
});
