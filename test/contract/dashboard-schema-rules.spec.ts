import { toCamelCase } from '../../packages/dashboard/src/format/names.ts';
import { ratioOf } from '../../packages/dashboard/src/format/ratio.ts';
import { parseGeneration } from '../../src/generation/accept/parse-generation.ts';
import { catalog } from '../../src/models/catalog.ts';
import { ModelFolder } from '../../src/models/declaration/model-folder.ts';
import { ROOT_FOLDER } from '../../src/platform/config/root-folder.ts';
import { checkBindings } from '../../src/providers/bindings/check-bindings.ts';
import {
  chipWords,
  type Control,
  controlsOf,
  isSet,
  missing,
  type ModelSchema,
  requestOf,
  sizeBounds,
  switchModel,
  type Values,
} from '../../packages/dashboard/src/features/create/schema-rules.ts';

const EXAMPLES = new ModelFolder(`${ROOT_FOLDER}test/support/declarations`, {
  createdAtOf: () => 0,
  taken: new Map(),
  checkBindings,
});

/** A value that is not the default, as the control of a form gives it. */
function filledIn({ name, kind, schema }: Control): unknown {
  if (kind === 'image') return 'https://example.com/a.png';
  if (kind === 'images') return ['https://example.com/a.png'];
  if (kind === 'pairs') return { shelf: 'a' };
  if (kind === 'size') return '1024x1024';
  if (name === 'parent_task_id') return 'task_01m8enyjsdfqe8j9sb5t3f5p37';
  if (schema.enum) return schema.enum.at(-1);
  if (schema.type === 'boolean') return !schema.default;
  if (schema.type === 'string') return schema.default ? '' : 'blue';
  return schema.minimum;
}

const schemaOf = (id: string) => catalog.models.find((model) => model.id === id)?.parameters as unknown as ModelSchema;
const control = (id: string, name: string, values: Values = {}) =>
  controlsOf(schemaOf(id), values).find((each) => each.name === name);

describe('the form of a model', () => {
  it.each(catalog.models.map(({ id }) => id))('has every parameter of %s but the constant ones', (id) => {
    const { properties } = schemaOf(id);
    const wanted = Object.keys(properties).filter((name) => properties[name]?.const === undefined);
    expect(
      controlsOf(schemaOf(id), {})
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(wanted.toSorted());
  });

  it('begins with the prompt and draws each parameter by its schema', () => {
    expect(controlsOf(schemaOf('gpt-image-2'), {})[0]).toMatchObject({
      name: 'prompt',
      kind: 'prompt',
      required: true,
    });
    expect(control('gpt-image-2', 'aspect_ratio')).toMatchObject({ kind: 'ratio', extra: false });
    expect(control('gpt-image-2', 'reference_images')).toMatchObject({ kind: 'images' });
    expect(control('gpt-image-2', 'metadata')).toMatchObject({ kind: 'pairs', extra: true });
    expect(control('sora-2', 'duration')).toMatchObject({ kind: 'number' });
  });

  it('requires one image and disables the other, with the reason, when the mode says so', () => {
    const values = { reference_mode: 'first_frame' };
    expect(control('seedance-2', 'first_frame_image_url', values)).toMatchObject({ required: true, disabled: null });
    expect(control('seedance-2', 'reference_image_url', values)?.disabled).toMatch(/first_frame/);
    expect(control('seedance-2', 'reference_image_url')?.disabled).toBeNull();
    expect(missing(schemaOf('seedance-2'), { ...values, prompt: 'a cat' })).toMatchObject({
      name: 'first_frame_image_url',
    });
  });
});

describe('what models of operators have besides', () => {
  const schema: ModelSchema = {
    properties: {
      prompt: { type: 'string', maxLength: 300 },
      negative_prompt: { type: 'string', maxLength: 2000 },
      size: {
        type: 'string',
        description: 'The pixels: WIDTHxHEIGHT, each a multiple of 16 from 256 to 2048.',
        default: '512x768',
      },
      seed: { type: 'integer', minimum: 0, maximum: 99 },
      x_steps: { type: 'integer', minimum: 4, maximum: 50, default: 20 },
      x_look: { type: 'string', maxLength: 40 },
    },
    required: ['prompt'],
  };

  it('has controls of its own, and parameters of one model stand by themselves', () => {
    const controls = controlsOf(schema, {}).map(({ name, kind, label, own }) => [name, kind, label, own]);
    expect(controls).toEqual([
      ['prompt', 'prompt', 'Prompt', false],
      ['size', 'size', 'Size', false],
      ['x_steps', 'number', 'Steps', true],
      ['seed', 'seed', 'Seed', false],
      ['negative_prompt', 'area', 'Negative prompt', false],
      ['x_look', 'text', 'Look', true],
    ]);
  });

  it('asks for no text where a text is the default', () => {
    const properties = { look: { type: 'string', maxLength: 40, default: 'plain' }, note: { type: 'string' } };
    expect(requestOf('m', { properties }, { look: '', note: '' })).toEqual({ model: 'm', look: '' });
    expect(requestOf('m', { properties }, { look: 'plain' })).toEqual({ model: 'm' });
  });

  it('reads the bounds of a size from its words', () => {
    expect(sizeBounds(schema.properties.size!)).toEqual({
      step: 16,
      min: 256,
      max: 2048,
      start: { width: 512, height: 768 },
    });
    expect(sizeBounds({ description: 'Pixels.' })).toEqual({
      step: 1,
      min: 16,
      max: 9999,
      start: { width: 1024, height: 1024 },
    });
  });
});

it('sends of each example what a request by hand would send', async () => {
  const { models } = await EXAMPLES.read();
  expect(models.length).toBeGreaterThan(5);
  catalog.declare(models);
  try {
    for (const { id, parameters } of models) {
      const schema = parameters as unknown as ModelSchema;
      const all = Object.fromEntries(controlsOf(schema, {}).map((each) => [each.name, filledIn(each)]));
      const values: Values = { ...all, prompt: 'a cat' };
      const off = new Set(
        controlsOf(schema, values).flatMap(({ name, disabled }) => (disabled === null ? [] : [name])),
      );
      const byHand = Object.fromEntries(Object.entries(values).filter(([name]) => !off.has(name)));
      const inputOf = (body: object) => parseGeneration(body, { models: [['*']] }, () => undefined);
      expect(inputOf(requestOf(id, schema, values))).toEqual(inputOf({ model: id, ...byHand }));
      expect(inputOf(requestOf(id, schema, { prompt: 'a cat' }))).toEqual(inputOf({ model: id, prompt: 'a cat' }));
    }
  } finally {
    catalog.declare([]);
  }
});

describe('a default text that the user cleared', () => {
  const text = (fallback?: string) => ({
    properties: { look: { type: 'string', maxLength: 40, ...(fallback && { default: fallback }) }, note: {} },
  });
  const [plain, dark, none]: ModelSchema[] = [text('plain'), text('dark'), { properties: {} }];

  it('stays cleared for another model, and after a model that has no such text', () => {
    const { values, notes } = switchModel({ look: '' }, plain!, dark!, 'dark');
    expect(requestOf('dark', dark!, values)).toEqual({ model: 'dark', look: '' });
    const without = switchModel(values, dark!, none!, 'none');
    expect([...notes, ...without.notes]).toEqual([]);
    expect(requestOf('none', none!, without.values)).toEqual({ model: 'none' });
    const back = switchModel(without.values, none!, plain!, 'plain');
    expect(requestOf('plain', plain!, back.values)).toEqual({ model: 'plain', look: '' });
  });

  it('is no setting of a model whose text is empty by default', () => {
    const [look] = controlsOf(text(), {});
    expect(isSet(look!, '')).toBe(false);
    expect(isSet(controlsOf(plain!, {})[0]!, '')).toBe(true);
  });
});

describe('the rules between parameters', () => {
  it('wait for what a parameter needs', () => {
    expect(control('gpt-image-2', 'mask')?.disabled).toBe('needs reference images');
    expect(control('gpt-image-2', 'mask', { reference_images: ['file_a'] })?.disabled).toBeNull();
    const values = { prompt: 'a cat', mask: 'file_b' };
    expect(requestOf('gpt-image-2', schemaOf('gpt-image-2'), values)).toEqual({
      model: 'gpt-image-2',
      prompt: 'a cat',
    });
  });

  it('are all of them, not only the first', () => {
    expect(control('gpt-image-2', 'aspect_ratio')?.disabled).toBeNull();
    expect(control('gpt-image-2', 'aspect_ratio', { size: '1024x1024' })?.disabled).toMatch(/size/);
    const images = { first_frame_image_url: 'file_a', last_frame_image_url: 'file_b' };
    expect(control('seedance-2', 'reference_image_url', images)?.disabled).toMatch(/last_frame/);
  });

  it('read a parameter that is left out as its default', () => {
    const first = { first_frame_image_url: 'file_a' };
    expect(control('sora-2', 'last_frame_image_url', first)?.disabled).toMatch(/reference_mode/);
    expect(control('sora-2', 'last_frame_image_url', { ...first, reference_mode: 'multi_frame' })?.disabled).toMatch(
      /reference_mode/,
    );
    expect(control('sora-2', 'last_frame_image_url', { ...first, reference_mode: 'first_last' })?.disabled).toBeNull();
  });

  it('know conditions of absence, and prohibitions of some values', () => {
    /* oxlint-disable unicorn/no-thenable -- a keyword of JSON Schema */
    const schema = {
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
      allOf: [
        { if: { properties: { a: false } }, then: { properties: { b: { not: {}, description: 'needs a' } } } },
        { if: { properties: { a: {} }, required: ['a'] }, then: { required: ['c'] } },
        {
          if: { properties: { a: { const: 'x' } }, required: ['a'] },
          then: { properties: { b: { not: { const: 'y' } } } },
        },
      ],
    } as unknown as ModelSchema;
    /* oxlint-enable unicorn/no-thenable */
    const of = (name: string, values: Values) => controlsOf(schema, values).find((each) => each.name === name);
    expect(of('b', {})?.disabled).toBe('needs a');
    expect(of('c', {})?.required).toBe(false);
    expect(of('b', { a: 'x' })?.disabled).toBeNull();
    expect(of('c', { a: 'x' })?.required).toBe(true);
  });
});

describe('a parameter that no model of today has', () => {
  const schema = {
    properties: {
      prompt: { type: 'string', maxLength: 4_000 },
      seamless: { type: 'boolean', default: false },
      guidance: { type: 'number', minimum: 0, maximum: 20, default: 7.5 },
      steps: { enum: [20, 50], default: 20 },
      regions: { type: 'object', properties: {} },
    },
  } as unknown as ModelSchema;

  it('is drawn from its schema alone', () => {
    const kinds = Object.fromEntries(controlsOf(schema, {}).map(({ name, kind }) => [name, kind]));
    expect(kinds).toEqual({
      prompt: 'prompt',
      seamless: 'switch',
      guidance: 'decimal',
      steps: 'choice',
      regions: 'json',
    });
    const words = controlsOf(schema, { seamless: true }).map((each) =>
      chipWords(each, each.name === 'seamless' ? true : undefined),
    );
    expect(words).toEqual(expect.arrayContaining(['Seamless: on', 'Guidance: 7.5', '20']));
  });

  it('is sent as what it is, and carried over', () => {
    const values = { prompt: 'a cat', seamless: true, guidance: 9, steps: 50, regions: { left: 1 } };
    expect(requestOf('new', schema, values)).toEqual({ model: 'new', ...values });
    expect(switchModel(values, schema, schema, 'newer').values).toEqual(values);
  });
});

describe('the request', () => {
  it('carries only what differs from the defaults', () => {
    const values = { prompt: 'a cat', resolution: '1K', n: 3, metadata: {}, reference_images: [] };
    expect(requestOf('gpt-image-2', schemaOf('gpt-image-2'), values)).toEqual({
      model: 'gpt-image-2',
      prompt: 'a cat',
      n: 3,
    });
  });

  it('can carry the defaults too', () => {
    expect(requestOf('gpt-image-2', schemaOf('gpt-image-2'), { prompt: 'a cat' }, true)).toMatchObject({
      n: 1,
      resolution: '1K',
    });
  });

  it('has the names of GraphQL, and leaves what is inside a field alone', () => {
    expect(toCamelCase({ aspect_ratio: '1:1', metadata: { my_key: 'x' }, x_steps: 8 })).toEqual({
      aspectRatio: '1:1',
      metadata: { my_key: 'x' },
      extra: { x_steps: 8 },
    });
  });
});

describe('another model', () => {
  it('keeps what it allows, maps the letter case and says what it resets', () => {
    const values = { prompt: 'a cat', resolution: '1080P', duration: 3, aspect_ratio: '16:9' };
    const { values: kept, notes } = switchModel(values, schemaOf('sora-2'), schemaOf('seedance-2'), 'seedance-2');
    expect(kept).toEqual({ prompt: 'a cat', resolution: '1080p', aspect_ratio: '16:9' });
    expect(notes).toEqual(['Duration 3 → 5: seedance-2 has no 3']);
  });

  it.each<[from: string, to: string, values: Values, kept: Values, notes: string[]]>([
    ['gpt-image-2', 'nano-banana-2', { reference_images: ['a', 'b'] }, { reference_images: ['a', 'b'] }, []],
    ['gpt-image-2', 'sora-2', { reference_images: ['a'] }, { first_frame_image_url: 'a' }, []],
    ['gpt-image-2', 'gpt-image-2', { reference_images: ['a'], mask: 'm' }, { reference_images: ['a'], mask: 'm' }, []],
    [
      'gpt-image-2',
      'seedance-2',
      { reference_images: ['a', 'b', 'c'] },
      { first_frame_image_url: 'a', reference_image_url: 'b' },
      ['seedance-2 takes 2 images: 1 is left out'],
    ],
    ['seedance-2', 'sora-2', { reference_image_url: 'a' }, { first_frame_image_url: 'a' }, []],
    [
      'seedance-2',
      'gpt-image-2',
      { first_frame_image_url: 'a', reference_image_url: 'b' },
      { reference_images: ['a', 'b'] },
      [],
    ],
  ])('carries images from %s to %s', (from, to, values, kept, notes) => {
    const switched = switchModel(values, schemaOf(from), schemaOf(to), to);
    expect(switched).toEqual({ values: kept, notes });
  });
});

describe('the shape of what comes', () => {
  it('is what was chosen, else the default of the model, else a square', () => {
    expect(ratioOf({ aspect_ratio: '1:1' }, schemaOf('sora-2'))).toBe(1);
    expect(ratioOf({}, schemaOf('sora-2'))).toBeCloseTo(16 / 9);
    expect(ratioOf({}, schemaOf('gpt-image-2'))).toBe(1);
    expect(ratioOf({}, undefined)).toBe(1);
    // A declared model may have another name for it.
    expect(ratioOf({ x_shape: '2:1' }, { properties: { x_shape: { enum: ['1:1', '2:1'] } } })).toBe(2);
  });
});
