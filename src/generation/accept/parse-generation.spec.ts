import { ApiError } from '../../errors/api-error.ts';
import { catalog, findModel } from '../../models/catalog.ts';
import type { Model } from '../../models/definition/model.ts';
import { parseGeneration } from './parse-generation.ts';

const anyUrl = () => {};
const image = (fields: object = {}) => ({ model: 'gpt-image-2', prompt: 'a cat', ...fields });
const seedance = (fields: object = {}) => ({ model: 'seedance-2', prompt: 'a cat', ...fields });
const url = 'https://example.com/cat.png';

function refusal(body: unknown, checkUrl: (url: string) => void = anyUrl): ApiError {
  try {
    parseGeneration(body, {}, checkUrl);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the request was not refused');
}

describe('a creation request', () => {
  it.each([
    ['gpt-image-2', { prompt: 'a cat', aspect_ratio: 'auto', resolution: '1K', n: 1, quality: 'auto' }],
    ['nano-banana-2', { prompt: 'a cat', aspect_ratio: 'auto', resolution: '2K', n: 1 }],
    ['nano-banana-pro', { prompt: 'a cat', aspect_ratio: 'auto', resolution: '2K', n: 1 }],
    ['sora-2', { prompt: 'a cat', reference_mode: 'omni', aspect_ratio: '16:9', resolution: '1080P', duration: 5 }],
    ['seedance-2', { prompt: 'a cat', reference_mode: 'omni', aspect_ratio: '21:9', resolution: '720p', duration: 5 }],
  ])('for %s gets its defaults, in catalogue order', (model, input) => {
    const parsed = parseGeneration({ model, prompt: 'a cat' }, {}, anyUrl);
    expect(parsed).toMatchObject({ model: { id: model }, metadata: {} });
    expect(JSON.stringify(parsed.input)).toBe(JSON.stringify(input));
  });

  it('keeps the given values unchanged', () => {
    const body = image({
      prompt: '  猫 🐈\n',
      reference_images: [url, 'HTTP://例え.jp/ä.png'],
      n: 10,
      metadata: { a: '' },
      aspect_ratio: '2:3',
    });
    const before = structuredClone(body);
    expect(parseGeneration(body, {}, anyUrl)).toMatchObject({
      input: { prompt: '  猫 🐈\n', reference_images: [url, 'HTTP://例え.jp/ä.png'], n: 10, aspect_ratio: '2:3' },
      metadata: { a: '' },
    });
    expect(body).toEqual(before);
  });

  it.each([
    ['no object', [1], 'invalid_body', null],
    ['null', null, 'invalid_body', null],
    ['a text', 'x', 'invalid_body', null],
    ['undefined', undefined, 'invalid_body', null],
    ['no model', { prompt: 'x' }, 'missing_required_parameter', 'model'],
    ['a numeric model', { model: 2, prompt: 'x' }, 'invalid_type', 'model'],
    ['a null model', { model: null, prompt: 'x' }, 'invalid_type', 'model'],
    ['an unknown model', { model: 'GPT-image-2', prompt: 'x' }, 'model_not_found', 'model'],
    ['no prompt', { model: 'sora-2' }, 'missing_required_parameter', 'prompt'],
    ['a null prompt', image({ prompt: null }), 'invalid_type', 'prompt'],
    ['a list as prompt', image({ prompt: ['x'] }), 'invalid_type', 'prompt'],
    ['an empty prompt', image({ prompt: '' }), 'invalid_value', 'prompt'],
    ['a blank prompt', image({ prompt: ' \t\n\u0085\u00a0\u2003\u3000' }), 'invalid_value', 'prompt'],
    ['a long prompt', image({ prompt: 'x'.repeat(32_001) }), 'string_too_long', 'prompt'],
    ['NUL', image({ prompt: 'a\0b' }), 'invalid_unicode', 'prompt'],
    ['half a surrogate pair', image({ metadata: { a: '\ud800' } }), 'invalid_unicode', 'metadata.a'],
    ['half a surrogate pair in a key', image({ metadata: { 'a\udc00': 'x' } }), 'invalid_unicode', 'metadata.a\ufffd'],
    ['another value', image({ aspect_ratio: '7:5' }), 'invalid_value', 'aspect_ratio'],
    ['another letter case', image({ resolution: '1k' }), 'invalid_value', 'resolution'],
    ['a null option', image({ resolution: null }), 'invalid_type', 'resolution'],
    ['n as text', image({ n: '2' }), 'invalid_type', 'n'],
    ['half an n', image({ n: 1.5 }), 'invalid_type', 'n'],
    ['n true', image({ n: true }), 'invalid_type', 'n'],
    ['n 0', image({ n: 0 }), 'value_out_of_range', 'n'],
    ['n 11', image({ n: 11 }), 'value_out_of_range', 'n'],
    ['n 5 for nano-banana-2', { model: 'nano-banana-2', prompt: 'x', n: 5 }, 'value_out_of_range', 'n'],
    [
      '1K for nano-banana-pro',
      { model: 'nano-banana-pro', prompt: 'x', resolution: '1K' },
      'invalid_value',
      'resolution',
    ],
    ['duration 3', seedance({ duration: 3 }), 'value_out_of_range', 'duration'],
    ['duration 21', { model: 'sora-2', prompt: 'x', duration: 21 }, 'value_out_of_range', 'duration'],
    ['a field of another model', image({ duration: 5 }), 'unsupported_parameter', 'duration'],
    [
      'reference_image_url',
      { model: 'sora-2', prompt: 'x', reference_image_url: url },
      'unsupported_parameter',
      'reference_image_url',
    ],
    ['a field of no model', image({ camera: 1 }), 'unknown_parameter', 'camera'],
    ['a word that no model takes', image({ seed: 1 }), 'unsupported_parameter', 'seed'],
    ['a numeric field', image({ 0: 1 }), 'unknown_parameter', '0'],
    ['constructor', image({ constructor: 1 }), 'unknown_parameter', 'constructor'],
    ['toString', image({ toString: 1 }), 'unknown_parameter', 'toString'],
    ['__proto__', JSON.parse('{"model":"gpt-image-2","prompt":"x","__proto__":{}}'), 'unknown_parameter', '__proto__'],
    ['one URL for a list', image({ reference_images: url }), 'invalid_type', 'reference_images'],
    ['17 images', image({ reference_images: Array(17).fill(url) }), 'too_many_items', 'reference_images'],
    ['null in a list', image({ reference_images: [url, null] }), 'invalid_type', 'reference_images[1]'],
    ['an empty URL', image({ reference_images: [url, url, ''] }), 'invalid_url', 'reference_images[2]'],
    ['a relative URL', image({ reference_images: ['/cat.png'] }), 'invalid_url', 'reference_images[0]'],
    ['no id of a file', image({ reference_images: ['file_x'] }), 'invalid_url', 'reference_images[0]'],
    ['another scheme', image({ reference_images: ['ftp://example.com/x'] }), 'invalid_url', 'reference_images[0]'],
    ['a URL in white space', image({ reference_images: [` ${url}`] }), 'invalid_url', 'reference_images[0]'],
    ['no host', seedance({ first_frame_image_url: 'http://:80/' }), 'invalid_url', 'first_frame_image_url'],
    ['a password', seedance({ reference_image_url: 'https://a:b@example.com/' }), 'invalid_url', 'reference_image_url'],
    [
      'a long URL',
      image({ reference_images: [`${url}?${'x'.repeat(2048)}`] }),
      'string_too_long',
      'reference_images[0]',
    ],
    ['a mode of another model', seedance({ reference_mode: 'multi_frame' }), 'invalid_value', 'reference_mode'],
    [
      'first_frame without it',
      seedance({ reference_mode: 'first_frame' }),
      'missing_required_parameter',
      'first_frame_image_url',
    ],
    [
      'first_frame beside a reference',
      seedance({ reference_mode: 'first_frame', first_frame_image_url: url, reference_image_url: url }),
      'invalid_value',
      'reference_image_url',
    ],
    ['metadata null', image({ metadata: null }), 'invalid_type', 'metadata'],
    ['metadata as list', image({ metadata: [] }), 'invalid_type', 'metadata'],
    ['a number in metadata', image({ metadata: { a: 1 } }), 'invalid_type', 'metadata.a'],
    ['a numeric key in metadata', image({ metadata: { 2: null } }), 'invalid_type', 'metadata.2'],
    ['a long note', image({ metadata: { 'a/b~': 'x'.repeat(513) } }), 'string_too_long', 'metadata.a/b~'],
    ['a nameless note', image({ metadata: { '': 'x' } }), 'invalid_value', 'metadata'],
    ['a long name', image({ metadata: { ['k'.repeat(65)]: 'x' } }), 'string_too_long', `metadata.${'k'.repeat(65)}`],
    [
      '17 notes',
      image({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ''])) }),
      'too_many_items',
      'metadata',
    ],
  ])('with %s is refused', (_, body, code, param) => {
    expect(refusal(body)).toMatchObject({ code, param, status: 400, type: 'invalid_request_error' });
  });

  it.each(catalog.models.map(({ id }) => id))('for %s is refused in these words', (id) => {
    const own = Object.keys(findModel(id)!.parameters.properties);
    const others = catalog.models
      .flatMap(({ parameters }) => Object.keys(parameters.properties))
      .filter((name, at, all) => !own.includes(name) && all.indexOf(name) === at);
    const values = [null, [''], {}, '', '7', -1, 1.5, 1000];
    const bodies = [
      ...own.flatMap((name) => values.map((value) => ({ model: id, prompt: 'a fox', [name]: value }))),
      ...[...others, 'Prompt', 'seeds'].map((name) => ({ model: id, prompt: 'a fox', [name]: 'x' })),
    ];
    const rules = [
      { output_compression: 100 },
      { output_compression: 50 },
      { output_compression: 50, output_format: 'png' },
      { reference_mode: 'first_frame' },
      { reference_mode: 'first_frame', first_frame_image_url: url, reference_image_url: url },
      { reference_images: Array(17).fill(url) },
    ].map((fields) => ({ model: id, prompt: 'a fox', ...fields }));
    const lines = [...bodies, ...rules].map((body) => {
      try {
        return `${JSON.stringify(body)} -> ${JSON.stringify(parseGeneration(body, {}, anyUrl).input)}`;
      } catch (error) {
        const { code, param, message } = error as ApiError;
        return `${JSON.stringify(body)} -> ${code} ${param}: ${message}`;
      }
    });
    expect(lines.join('\n')).toMatchSnapshot();
  });

  it('counts code points, not UTF-16 units', () => {
    expect(parseGeneration(seedance({ prompt: '🐈'.repeat(3_500) }), {}, anyUrl).input.prompt).toHaveLength(7_000);
    expect(refusal(seedance({ prompt: '🐈'.repeat(3_501) })).code).toBe('string_too_long');
  });

  it('lists the allowed values in the message', () => {
    expect(refusal({ model: 'dall-e', prompt: 'x' }).message).toContain(
      'gpt-image-2, nano-banana-2, nano-banana-pro, sora-2',
    );
    expect(refusal(image({ n: 0 })).message).toContain('from 1 to 10');
    expect(refusal(image({ n: 1.5 })).message).toContain('must be an integer, not 1.5');
    expect(refusal(image({ n: '2' })).message).toContain('must be an integer, not "2"');
    expect(refusal(image({ n: null })).message).toContain('not null');
    expect(refusal(seedance({ resolution: '720P' })).message).toMatch(/720p, 1080p .*did you mean "720p"/);
    expect(refusal(image({ duration: 5 })).message).toMatch(
      /sora-2, seedance-2 .*takes model, prompt, reference_images/,
    );
    expect(refusal(image({ aspectRatio: '1:1' })).message).toContain('Did you mean aspect_ratio?');
    expect(refusal(image({ reference_images: Array(17).fill(url) })).message).toContain('at most 16');
    expect(refusal(seedance({ reference_mode: 'first_frame' })).message).toContain('with reference_mode "first_frame"');
  });

  it('truncates long text of the client in the message', () => {
    expect(refusal(image({ resolution: 'x'.repeat(9_999) })).message.length).toBeLessThan(300);
    const unknown = refusal(image({ ['x'.repeat(9_999)]: 1 }));
    expect(unknown.message.length + unknown.param!.length).toBeLessThan(500);
  });

  it('checks every image URL and names the refused one', () => {
    const asked: string[] = [];
    const check = (address: string) => {
      asked.push(address);
      if (address.includes('127.0.0.1')) throw new ApiError('url_not_allowed');
    };
    const images = [url, 'http://127.0.0.1/'];
    expect(refusal(image({ reference_images: images }), check)).toMatchObject({
      code: 'url_not_allowed',
      param: 'reference_images[1]',
    });
    parseGeneration(seedance({ first_frame_image_url: `${url}?1`, reference_image_url: `${url}?2` }), {}, check);
    expect(asked).toEqual([...images, `${url}?1`, `${url}?2`]);
  });

  it('names the replacement of a retired model', () => {
    const retired: Model = {
      ...catalog.models[0]!,
      id: 'gpt-image-1',
      dates: { deprecatedAt: 1, sunsetAt: 2, replacement: 'gpt-image-2', isRemoved: false },
    };
    catalog.declare([retired]);
    const error = refusal({ model: 'gpt-image-1', prompt: 'x' });
    catalog.declare([]);
    expect(error).toMatchObject({ code: 'model_not_found', status: 400, param: 'model' });
    expect(error.message).toBe('gpt-image-1 is retired. Use gpt-image-2 instead.');
  });

  it('names the absent parameters that make another one required', () => {
    const [first] = catalog.models;
    const demand = { properties: { reference_images: {} }, required: ['reference_images'] };
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    const rule = { if: { properties: { quality: false } }, then: demand } as const;
    catalog.declare([{ ...first!, id: 'own', parameters: { ...first!.parameters, ...rule } }]);
    const error = refusal({ model: 'own', prompt: 'x' });
    catalog.declare([]);
    expect([error.code, error.message]).toEqual([
      'missing_required_parameter',
      'reference_images is required with no quality.',
    ]);
  });
});
