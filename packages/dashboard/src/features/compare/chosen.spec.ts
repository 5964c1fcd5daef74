import { chosenOf, inputsOf, outputId } from './chosen.ts';

const a = 'task_01m830je8jfvhre82nnph7dn1z';
const b = 'task_01m830je81fvhre82e9cxmc9f2';

describe('what is compared', () => {
  it('comes from the address: outputs or tasks, at most four, without what is misspelt', () => {
    expect(chosenOf({ outputs: `${a.replace('task', 'file')}_2,file_x`, tasks: `${b},task_short` })).toEqual([
      { taskId: a, index: 2 },
      { taskId: b, index: 0 },
    ]);
    expect(chosenOf({ tasks: Array.from({ length: 9 }, () => a).join(',') })).toHaveLength(4);
    expect(chosenOf({})).toEqual([]);
  });

  it('goes back to the address', () => {
    expect(outputId({ taskId: a, index: 2 })).toBe('file_01m830je8jfvhre82nnph7dn1z_2');
  });

  it('shows first the inputs that differ', () => {
    expect(
      inputsOf([
        { prompt: 'A kite', n: 1, resolution: '1K' },
        { prompt: 'A kite', n: 1, aspect_ratio: '3:2' },
      ]),
    ).toEqual([
      { name: 'resolution', values: ['1K', '–'], differs: true },
      { name: 'aspect_ratio', values: ['–', '3:2'], differs: true },
      { name: 'prompt', values: ['A kite', 'A kite'], differs: false },
      { name: 'n', values: ['1', '1'], differs: false },
    ]);
  });

  it('takes two links of one file of ours as the same', () => {
    const link = (signature: string) => `http://127.0.0.1:3000/v1/files/file_a/content?signature=${signature}`;
    expect(inputsOf([{ reference_images: [link('x')] }, { reference_images: [link('y')] }])).toEqual([
      { name: 'reference_images', values: ['["file_a"]', '["file_a"]'], differs: false },
    ]);
  });
});
