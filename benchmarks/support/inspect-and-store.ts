import { join } from 'node:path';
import sharp from 'sharp';

const built = (path: string) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const [{ DiskStorage }, { probe }] = await Promise.all([
  built('platform/storage/disk.storage.js'),
  built('generation/images/probe.js'),
]);

const PICTURES = 1000;
const CONCURRENCY = 50;

const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#345' } })
  .png()
  .toBuffer();

/**
 * The last step of every task of the pipeline: it detects the type of the image and writes the bytes to the disk.
 * @returns milliseconds of this process's processor time for one image
 */
export async function inspectAndStore(folder: string): Promise<number> {
  const storage = new DiskStorage(join(folder, String(performance.now())));
  let left = PICTURES;
  const before = process.cpuUsage();
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const { contentType, extension } = await probe(picture);
      await storage.put(`task_${left}/0.${extension}`, picture, contentType);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / PICTURES;
}
