// The upstream of pictures in a process of its own. A message is 'webhooks', or the size of the picture that it answers
// with from now on.
import { type PictureSize, startPictureUpstream } from './picture-upstream.ts';

const upstream = await startPictureUpstream();
process.on('message', (message: PictureSize | 'webhooks') => {
  process.send?.(message === 'webhooks' ? upstream.webhooks() : upstream.use(message));
});
process.send?.({ url: upstream.url, hookUrl: upstream.hookUrl });
