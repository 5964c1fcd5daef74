// The same program in Node, Deno and Bun.
import { Darkroom } from '@darkroom/client';

const run = await new Darkroom().generate({ model: 'gpt-image-2', prompt: 'A lighthouse', resolution: '1K' });
const task = await run.wait();
console.log(await task.outputs[0].save('picture.png'));
