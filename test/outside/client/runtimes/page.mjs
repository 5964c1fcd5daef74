import { Darkroom } from '@darkroom/client';

globalThis.makePicture = async (baseUrl, apiKey) => {
  const run = await new Darkroom({ baseUrl, apiKey }).generate({
    model: 'gpt-image-2',
    prompt: 'A lighthouse',
    resolution: '1K',
  });
  const task = await run.wait();
  const blob = await task.outputs[0].blob();
  return (await createImageBitmap(blob)).width;
};
