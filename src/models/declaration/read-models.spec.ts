import { Ajv2020 } from 'ajv/dist/2020.js';
import { textOf } from './fault.ts';
import { readOpened } from './read-models.ts';
import { YamlFile } from './yaml-file.ts';

const FILE = 'm.yaml';

function read(content: string | Buffer) {
  const file = new YamlFile(FILE, Buffer.from(content));
  return { file, model: readOpened(file, { declared: true, createdAt: 1 }) };
}

const faultsOf = (content: string | Buffer): string[] => read(content).file.faults.map(textOf);

const QWEN = `id: qwen-image
kind: image
description: Qwen-Image on our two L40S.
aliases: [qwen]
parameters:
  prompt: { maxLength: 4000 }
  negative_prompt: { maxLength: 2000 }
  reference_images: { maxItems: 1 }
  mask: {}
  strength: { default: 0.8 }
  size: { default: 1328x1328 }
  n: { maximum: 4 }
  seed: {}
  x_steps: { type: integer, minimum: 4, maximum: 50, default: 20, description: Denoising steps. }
sizes:
  pixels: { step: 16, min_side: 256, max_side: 2048, max_pixels: 2359296 }
bindings:
  - provider: openai
    dialect: vllm-omni
    base_urls: [http://gpu1:8000/v1, http://gpu2:8000/v1]
    model: Qwen/Qwen-Image
    credential: null
    concurrency: 1
    send: { num_inference_steps: '{{x_steps}}' }
`;

const FILM = `id: acme-film
kind: video
description: Films of Acme.
parameters:
  prompt: { maxLength: 3000 }
  first_frame_image_url: {}
  last_frame_image_url: {}
  aspect_ratio: { default: '16:9' }
  resolution: { default: 720p }
  duration: { enum: [5, 10], default: 5 }
  generate_audio: { default: true }
sizes: { table: { columns: [720p], rows: { '16:9': [1280x720], '9:16': [720x1280] } } }
rules:
  - { when: { duration: 10, generate_audio: [true] }, requires: [first_frame_image_url] }
  - { when: { last_frame_image_url: present }, excludes: [generate_audio] }
bindings: [{ provider: sandbox }]
lifecycle: { deprecated_at: 2027-03-01, sunset_at: 2027-09-01, replacement: sora-2 }
access: listed
`;

describe('a declaration', () => {
  it('becomes a model with its parameters in the order of the vocabulary', () => {
    const { model, file } = read(QWEN);
    expect(file.faults).toEqual([]);
    expect(model).toMatchObject({
      id: 'qwen-image',
      owned_by: 'operator',
      created: 1,
      declared: true,
      aliases: ['qwen'],
      isListed: false,
      choose: 'in_order',
      sizes: {},
      pixels: { step: 16, min_side: 256, max_side: 2048, max_pixels: 2359296 },
    });
    expect(Object.keys(model!.parameters.properties)).toEqual(
      'model prompt negative_prompt reference_images mask strength size n seed output_format output_compression x_steps metadata priority parent_task_id'.split(
        ' ',
      ),
    );
    expect(model!.parameters.dependentRequired).toEqual({ mask: ['reference_images'], strength: ['reference_images'] });
    expect(model!.parameters.properties.size).toEqual({
      type: 'string',
      description: 'The pixels: WIDTHxHEIGHT, each a multiple of 16 from 256 to 2048, at most 2359296 pixels.',
      pattern: '^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$',
      default: '1328x1328',
    });
  });

  it('publishes a schema that validators take', () => {
    for (const text of [QWEN, FILM]) {
      const { parameters } = read(text).model!;
      expect(() => new Ajv2020({ strict: true, formats: { image: true } }).compile(parameters)).not.toThrow();
    }
  });

  it('says its rules in JSON Schema', () => {
    const { parameters, guidance, isListed } = read(FILM).model!;
    expect(parameters).toMatchObject({
      if: {
        properties: { duration: { const: 10 }, generate_audio: { enum: [true] } },
        required: ['duration', 'generate_audio'],
      },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: { first_frame_image_url: {} }, required: ['first_frame_image_url'] },
      allOf: [
        {
          if: { properties: { last_frame_image_url: {} }, required: ['last_frame_image_url'] },
          // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
          then: {
            properties: {
              generate_audio: { not: {}, description: 'cannot be combined with last_frame_image_url' },
            },
          },
        },
      ],
      dependentRequired: { last_frame_image_url: ['first_frame_image_url'] },
    });
    expect(guidance).toEqual({ loneFirstFrame: { omni: { as: 'first_frame' } } });
    expect(isListed).toBe(true);
  });

  it('has rules for when several parameters are absent: all of them', () => {
    const rule =
      '- { when: { aspect_ratio: absent, last_frame_image_url: absent }, requires: [first_frame_image_url] }';
    const { parameters } = read(FILM.replace(/- \{ when: \{ duration.*/, rule)).model!;
    const isMet = new Ajv2020().compile({ type: 'object', ...parameters.if });
    const bodies = [{}, { aspect_ratio: '16:9' }, { last_frame_image_url: 'a' }];
    expect(bodies.map((body) => isMet(body))).toEqual([true, false, false]);
  });

  it('may be JSON', () => {
    expect(faultsOf(JSON.stringify(read(QWEN).file.value, null, '\t'))).toEqual([]);
  });

  it('has a version that follows what it means, not its words, addresses and layout', () => {
    const version = (text: string) => read(text).model!.version;
    const first = version(QWEN);
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    for (const [given, other] of [
      ['Denoising steps', 'Steps'],
      ['our two L40S', 'ours'],
      ['http://gpu2:8000/v1', 'http://gpu3:8000/v1'],
      ['concurrency: 1', 'concurrency: 2'],
      ['n: { maximum: 4 }\n', 'n: { maximum: 4 } # pictures\n'],
      ['{ maxLength: 2000 }', '{}'],
    ] as const) {
      expect(version(QWEN.replace(given, other))).toBe(first);
    }
    for (const [given, other] of [
      ['default: 20', 'default: 21'],
      ['Qwen/Qwen-Image', 'Qwen/Qwen-Image-2'],
      ['min_side: 256', 'min_side: 320'],
      ['vllm-omni', 'sglang'],
    ] as const) {
      expect(version(QWEN.replace(given, other))).not.toBe(first);
    }
  });
});

describe('a wrong declaration', () => {
  const without = (line: string) => QWEN.replace(`${line}\n`, '');
  const changed = (given: string, other: string) => {
    expect(QWEN).toContain(given);
    return QWEN.replace(given, other);
  };
  const film = (given: string, other: string) => {
    expect(FILM).toContain(given);
    return FILM.replace(given, other);
  };

  it.each([
    [changed('[qwen]', '&a [qwen]'), '4:13: aliases: anchors are not allowed'],
    [changed('[qwen]', '*a'), '4:10: aliases: aliases are not allowed'],
    [changed('[qwen]', '!!seq [qwen]'), '4:16: aliases: tags are not allowed'],
    [`${QWEN}id: x\n`, '25:1: id: duplicate key "id"'],
    [`${QWEN}? [a]\n: { b: 1 }\n`, '25:3: file: a name must be plain text'],
    [changed('[qwen]', "'qwen"), /^\d+:\d+: file: /],
    [`${QWEN}<<: {}\n`, '25:1: file: merge keys are not allowed'],
    [`%YAML 1.1\n---\n${QWEN}`, '1:1: file: directives are not allowed'],
    [`${QWEN}---\nid: x\n`, '26:1: file: more than one document'],
    [Buffer.from([0xff, 0xfe]), '1:1: file: is not UTF-8'],
    [`id: a\0`, '1:6: file: holds NUL'],
    ['', '1:1: file: the file must be a map, not nothing'],
    ['[1', /^1:\d: file: /],
    [changed('kind: image', 'basurl: x\nkind: image'), /^2:1: basurl: unknown field "basurl"; known are id, kind, /],
    [
      changed('    model: Qwen', '    basurl: x\n    model: Qwen'),
      /^21:5: bindings\[0\]\.basurl: unknown field "basurl"; did you mean base_url\? known are /,
    ],
    [without('kind: image'), '1:1: kind: kind is missing'],
    [
      changed('Qwen-Image on our two L40S.', '1.10'),
      '3:14: description: description must be a string, not the number 1.10; put it in quotes',
    ],
    [
      changed('provider: openai', 'provider: foo'),
      /^18:15: bindings\[0\]\.provider: provider "foo" is not allowed; allowed are openai, gemini, /,
    ],
    [changed('maximum: 4 }', 'maximum: 50 }'), '12:17: parameters.n.maximum: maximum 50 is above 10'],
    [changed('maximum: 4 }', 'maximum: 4.5 }'), '12:17: parameters.n.maximum: maximum must be a whole number, not 4.5'],
    [
      changed('{ default: 0.8 }', '{ minimum: -0.5, default: 0.8 }'),
      /^10:\d+: parameters\.strength\.minimum: minimum -0\.5 is below 0$/,
    ],
    [changed('default: 20', 'default: 60'), /^14:\d+: parameters\.x_steps\.default: default 60 is not within 4 to 50$/],
    [
      changed('default: 20', 'default: "20"'),
      /^14:\d+: parameters\.x_steps\.default: default must be a whole number, not "20"$/,
    ],
    [changed('type: integer, ', ''), '14:12: parameters.x_steps.type: x_steps.type is missing'],
    [changed('  seed: {}', '  fps: {}'), '13:3: parameters.fps: fps is not supported yet'],
    [changed('  seed: {}', '  duration: { default: 5 }'), '13:3: parameters.duration: duration is not for images'],
    [
      changed('  seed: {}', '  colour: {}'),
      /^13:3: parameters\.colour: unknown parameter "colour"; known are prompt, /,
    ],
    [changed('  seed: {}', '  sed: {}'), /^13:3: parameters\.sed: unknown parameter "sed"; did you mean seed\? /],
    [changed('{ default: 1328x1328 }', '{}'), '11:9: parameters.size.default: size.default is missing'],
    [
      changed('1328x1328', '1000x1000'),
      '11:20: parameters.size.default: default "1000x1000" is not WIDTHxHEIGHT, each a multiple of 16 from 256 to 2048, at most 2359296 pixels',
    ],
    [
      without('  reference_images: { maxItems: 1 }'),
      /^8:3: parameters\.mask: mask needs the parameter reference_images/,
    ],
    [changed('mask: {}', 'mask: { maximum: 2 }'), '9:11: parameters.mask.maximum: mask takes no maximum'],
    [changed('id: qwen-image', 'id: Qwen'), /^1:5: id: id "Qwen" must be 1 to 63 of a-z/],
    [changed('kind: image', 'kind: image\ncreated: 2027-13-01'), '3:10: created: "2027-13-01" is no date'],
    [changed('kind: image', 'kind: image\ncreated: 2027-02-30'), '3:10: created: "2027-02-30" is no date'],
    [
      changed('credential: null', 'credential: sk-4f9c2d7e81'),
      /^22:17: bindings\[0\]\.credential: credential this must be /,
    ],
    [
      changed('base_urls: [', 'base_urls: [gpu, '),
      /^20:17: bindings\[0\]\.base_urls\[0\]: base_urls\[0\] "gpu" must be an http/,
    ],
    [
      film('[1280x720]', '[1280x720, 1920x1080]'),
      /^12:\d+: sizes\.table\.rows\.16:9: row "16:9" has 2 cells, columns has 1$/,
    ],
    [film('1280x720', '1025x1024'), /^12:\d+: sizes\.table\.rows\.16:9\[0\]: 1025x1024 has an odd side$/],
    [film('  generate_audio: { default: true }', '  mask: {}'), /^11:3: parameters\.mask: mask is not for videos$/],
    [film('720p }', '8K }'), '9:26: parameters.resolution.default: default "8K" is not one of 720p'],
    [film(', default: 5', ''), '10:13: parameters.duration.default: duration.default is missing'],
    [film('[first_frame_image_url] }', '[foo] }'), /^14:\d+: rules\[0\]\.requires\[0\]: "foo" is not declared$/],
    [film('2027-09-01', '2027-01-01'), /^17:\d+: lifecycle\.sunset_at: sunset_at 2027-01-01 is before deprecated_at$/],
  ])('names the place and what is wrong: case %#', (text, fault) => {
    const [first] = faultsOf(text);
    expect(first?.replace(`${FILE}:`, '')).toEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault));
  });

  it('tells all faults of a file at once', () => {
    expect(faultsOf(changed('kind: image', 'kind: picture').replace('provider: openai', 'provider: foo'))).toHaveLength(
      2,
    );
  });

  it('does not repeat what may be a key', () => {
    expect(faultsOf(changed('credential: null', 'credential: sk-4f9c2d7e81')).join()).not.toContain('4f9c');
  });

  it('has its bounds', () => {
    const own = (count: number) =>
      Array.from({ length: count }, (_, at) => `  x_${at}: { type: boolean, description: X. }\n`).join('');
    const withOwn = (count: number) => faultsOf(QWEN.replace('  x_steps:', `${own(count)}  x_steps:`));
    expect(withOwn(31)).toEqual([]);
    expect(withOwn(32)[0]).toContain('parameters: parameters has 33 own ones, at most 32');
    const nested = (depth: number) => faultsOf(`${QWEN}rules: ${'['.repeat(depth)}${']'.repeat(depth)}`);
    expect(nested(33).join()).toContain('is nested more than 32 deep');
    expect(nested(32).join()).not.toContain('deep');
    const list = (count: number) => faultsOf(`${QWEN}rules: [${Array.from({ length: count }, (_, at) => at).join()}]`);
    expect(list(10_000)).toEqual([expect.stringContaining(': has more than 10000 names and values')]);
    expect(list(9_000).join()).not.toContain('names and values');
  });

  it('is refused when it is nested without end, and does not stop the service', () => {
    expect(faultsOf(`id: ${'['.repeat(100_000)}`)).not.toEqual([]);
    expect(faultsOf(`tests: ${'[a,'.repeat(40)}${']'.repeat(40)}`)).not.toEqual([]);
  });
});

it('has the values of YAML 1.2, and text for what only YAML 1.1 takes', () => {
  const text = `{ a: 0x1F, b: 0o17, c: -1.5e3, d: True, e: ~, f:, g: "1", h: '~', i: yes, j: 012, k: 1_000, l: 2027-03-01, m: 1:30 }`;
  const value = { a: 31, b: 15, c: -1500, d: true, e: null, f: null, g: '1', h: '~', i: 'yes', j: 12, k: '1_000', l: '2027-03-01', m: '1:30' }; // prettier-ignore
  expect(new YamlFile(FILE, Buffer.from(text))).toMatchObject({ value, faults: [] });
});
