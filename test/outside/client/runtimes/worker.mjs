import { Darkroom } from '@darkroom/client';

export default {
  async fetch(_request, env) {
    const darkroom = new Darkroom({ baseUrl: env.DARKROOM_URL, apiKey: env.DARKROOM_API_KEY });
    const run = await darkroom.generate({ model: 'gpt-image-2', prompt: 'A lighthouse', resolution: '1K' });
    const task = await run.wait();
    return new Response(task.outputs[0].stream(), { headers: { 'content-type': task.outputs[0].content_type } });
  },
};
