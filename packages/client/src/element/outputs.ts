import type { SucceededTask, TaskOutput } from '../types.gen.ts';
import { make } from './make.ts';

export interface OutputTexts {
  alt: string;
  expired: string;
}

/** Reads a new link for the output with this index after its link failed. Null: the output has no link any more. */
type Renew = (index: number) => Promise<string | null>;

/** The images or videos of a task. A link that fails, such as an expired one, is replaced once. */
export function outputsOf(task: SucceededTask, texts: OutputTexts, renew: Renew): HTMLElement {
  const { outputs } = task.result;
  const list = make('div', 'outputs');
  list.append(
    ...outputs.map((output) => {
      const { url } = output;
      if (url === null) return make('p', 'expired', { textContent: texts.expired });
      const alt = outputs.length > 1 && texts.alt !== '' ? `${texts.alt} (${output.index + 1})` : texts.alt;
      const media = output.type === 'video' ? film(output, alt) : picture(output, alt);
      let isRenewed = false;
      media.addEventListener('error', async () => {
        const next = isRenewed ? null : await renew(output.index).catch(() => null);
        isRenewed = true;
        if (next === null) media.replaceWith(make('p', 'expired', { textContent: texts.expired }));
        else media.src = next;
      });
      media.src = url;
      return media;
    }),
  );
  return list;
}

/** The width and height reserve the space of the image while it loads. */
const picture = ({ width, height }: TaskOutput, alt: string): HTMLImageElement =>
  make('img', 'output image', { alt, width, height, decoding: 'async' });

function film({ width, height }: TaskOutput, alt: string): HTMLVideoElement {
  const video = make('video', 'output video', {
    width,
    height,
    controls: true,
    playsInline: true,
    preload: 'metadata',
  });
  if (alt !== '') video.ariaLabel = alt;
  return video;
}
