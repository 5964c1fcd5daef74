import { fillTemplate, type TemplateSlot } from './template.ts';

const VALUES: Record<string, unknown> = {
  prompt: 'a {{seed}} fox',
  seed: 7,
  sound: false,
  duration: 5,
  none: undefined,
};
const fill = (template: unknown) => fillTemplate(template, ({ name }: TemplateSlot) => VALUES[name]);

it.each([
  ['{{seed}}', 7],
  ['{{ seed }}', 7],
  ['{{sound}}', false],
  ['{{duration:text}}', '5'],
  ['seed {{seed}} of {{duration}}', 'seed 7 of 5'],
  ['{{prompt}}', 'a {{seed}} fox'],
  ['x {{prompt}}', 'x a {{seed}} fox'],
  [
    { a: '{{seed}}', b: 1, c: true, d: null },
    { a: 7, b: 1, c: true, d: null },
  ],
  [{ a: '{{none}}', b: 1 }, { b: 1 }],
  [['{{none}}', '{{seed}}'], [7]],
  [{ a: { b: { c: '{{none}}' } }, d: ['{{none}}'], e: 1 }, { e: 1 }],
  [
    { a: {}, b: [] },
    { a: {}, b: [] },
  ],
  [{ a: '{{none:text}}' }, undefined],
  ['no slot', 'no slot'],
])('fills %j', (template, filled) => {
  expect(fill(template)).toEqual(filled);
});

it('takes a moment for a slot that does not end', () => {
  const text = `{{${' '.repeat(20_000)}`;
  expect(fill(text)).toBe(text);
});
