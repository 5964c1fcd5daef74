import { lifecycleOf } from './definition/model.ts';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { catalog, findModel } from './catalog.ts';
import type { ParameterSchema } from './definition/parameters.ts';

const NANO_RATIOS = ['auto', '21:9', '16:9', '3:2', '4:3', '1:1', '3:4', '2:3', '9:16'];
const VIDEO_RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

const SEED = [0, 2_147_483_647];
const FORMATS = ['png', 'jpeg', 'webp'];

/** The published table, letter for letter: allowed values, bounds and defaults. */
const TABLE = {
  'gpt-image-2': {
    kind: 'image',
    owned_by: 'openai',
    prompt: 32_000,
    images: { reference_images: 16, mask: 1 },
    others: ['size'],
    oneOf: {
      aspect_ratio: ['auto', '1:1', '5:4', '9:16', '21:9', '16:9', '3:2', '4:3', '4:5', '3:4', '2:3'],
      resolution: ['1K', '2K', '4K'],
      quality: ['auto', 'low', 'medium', 'high'],
      background: ['auto', 'opaque', 'transparent'],
      output_format: FORMATS,
    },
    defaults: { aspect_ratio: 'auto', resolution: '1K', n: 1, quality: 'auto', output_compression: 100 },
    numbers: { n: [1, 10], output_compression: [0, 100] },
  },
  'nano-banana-2': {
    kind: 'image',
    owned_by: 'google',
    prompt: 20_000,
    images: { reference_images: 14 },
    oneOf: { aspect_ratio: NANO_RATIOS, resolution: ['2K', '4K'], output_format: FORMATS },
    defaults: { aspect_ratio: 'auto', resolution: '2K', n: 1, output_compression: 100 },
    numbers: { n: [1, 4], output_compression: [0, 100] },
  },
  'nano-banana-pro': {
    kind: 'image',
    owned_by: 'google',
    prompt: 20_000,
    images: { reference_images: 14 },
    oneOf: { aspect_ratio: NANO_RATIOS, resolution: ['2K', '4K'], output_format: FORMATS },
    defaults: { aspect_ratio: 'auto', resolution: '2K', n: 1, output_compression: 100 },
    numbers: { n: [1, 4], output_compression: [0, 100] },
  },
  'sora-2': {
    kind: 'video',
    owned_by: 'openai',
    prompt: 32_000,
    images: { first_frame_image_url: 1, last_frame_image_url: 1 },
    others: ['generate_audio'],
    oneOf: {
      reference_mode: ['omni', 'first_last', 'multi_frame'],
      aspect_ratio: VIDEO_RATIOS,
      resolution: ['720P', '1080P', '4K'],
    },
    defaults: { reference_mode: 'omni', aspect_ratio: '16:9', resolution: '1080P', duration: 5 },
    numbers: { seed: SEED, duration: [1, 20] },
  },
  'seedance-2': {
    kind: 'video',
    owned_by: 'bytedance',
    prompt: 3_500,
    images: { first_frame_image_url: 1, last_frame_image_url: 1, reference_image_url: 1 },
    others: ['generate_audio'],
    oneOf: { reference_mode: ['omni', 'first_frame'], aspect_ratio: VIDEO_RATIOS, resolution: ['720p', '1080p'] },
    defaults: { reference_mode: 'omni', aspect_ratio: '21:9', resolution: '720p', duration: 5 },
    numbers: { seed: SEED, duration: [4, 15] },
  },
};

describe('the catalogue', () => {
  it('lists the five models in the published order', () => {
    expect(catalog.models.map(({ id }) => id)).toEqual(Object.keys(TABLE));
    expect(findModel('Sora-2')).toBeUndefined();
  });

  describe.each(Object.entries(TABLE))('%s', (id, row) => {
    const model = findModel(id)!;
    const others = 'others' in row ? row.others : [];
    const { model: self, metadata, priority, parent_task_id: parent, prompt, ...own } = model.parameters.properties;

    it('has the published kind, owner and required parameters', () => {
      expect(model).toMatchObject({ id, kind: row.kind, owned_by: row.owned_by });
      expect(lifecycleOf(model).status).toBe('active');
      expect(self!.const).toBe(id);
      expect(model.parameters.required).toEqual(['model', 'prompt']);
      expect(metadata!.maxProperties).toBe(16);
      expect(parent!.type).toBe('string');
      expect(priority).toMatchObject({ enum: ['normal', 'low'], default: 'normal' });
    });

    it('takes exactly the published parameters, values, defaults and bounds', () => {
      expect(Object.keys(own).sort()).toEqual(
        [...others, ...Object.keys(row.images), ...Object.keys(row.oneOf), ...Object.keys(row.numbers)].sort(),
      );
      expect(prompt).toMatchObject({ type: 'string', minLength: 1, maxLength: row.prompt });
      expect(pick(own, (schema) => schema.enum)).toEqual(row.oneOf);
      expect(pick(own, (schema) => schema.default)).toEqual(row.defaults);
      expect(pick(own, (schema) => (isNumber(schema) ? [schema.minimum, schema.maximum] : undefined))).toEqual(
        row.numbers,
      );
      expect(pick(own, (schema) => schema.maxItems ?? (schema.format && 1))).toEqual(row.images);
    });

    it('is described by a valid JSON Schema of the 2020-12 draft', () => {
      expect(model.parameters.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
      const ajv = new Ajv2020({ strict: true, formats: { image: true } });
      expect(ajv.validateSchema(model.parameters)).toBe(true);
      const validate = ajv.compile(model.parameters);
      expect(validate({ model: id, prompt: 'a cat', ...row.defaults })).toBe(true); // as generated clients send it
      expect(validate({ model: id, prompt: 'a cat', extra: 1 })).toBe(false);
      expect(JSON.parse(JSON.stringify(model.parameters))).toEqual(model.parameters); // JSON loses nothing
    });
  });
});

describe('docs/api/models.md', () => {
  const page = readFileSync(new URL('../../docs/api/models.md', import.meta.url), 'utf8').replaceAll(/ +/g, ' ');

  it.each(catalog.models.map((model) => [model.id, model] as const))(
    'lists the parameters of %s',
    (id, { parameters }) => {
      const { model: _m, metadata: _d, priority: _p, parent_task_id: _t, prompt, ...own } = parameters.properties;
      const cells = Object.entries(own).map(([name, schema]) => `\`${name}\`${cellOf(schema)}`);
      expect(page).toContain(`| ${id} | ${prompt!.maxLength} | ${cells.join('; ')} |`);
    },
  );
});

const isNumber = ({ type }: ParameterSchema): boolean => type === 'integer' || type === 'number';

/** A parameter's cell in the table of the page. */
function cellOf(schema: ParameterSchema): string {
  if (schema.enum)
    return ` ${schema.enum.map((value) => (value === schema.default ? `**${value}**` : value)).join(' ')}`;
  if (isNumber(schema)) {
    const byDefault = schema.default === undefined ? '' : `, **${schema.default}**`;
    return ` ${schema.minimum} to ${schema.maximum}${byDefault}`;
  }
  return schema.maxItems ? ` up to ${schema.maxItems}` : '';
}

/** The facet of each parameter that has one. */
function pick(schemas: Record<string, ParameterSchema>, facet: (schema: ParameterSchema) => unknown): object {
  return Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => (facet(schema) === undefined ? [] : [[name, facet(schema)]])),
  );
}
