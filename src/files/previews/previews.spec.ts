import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { DiskStorage } from '../../platform/storage/disk.storage.ts';
import { StoredFileMissing } from '../../platform/storage/storage.ts';
import type { OutputFile, TaskFiles } from '../../tasks/read/task-files.ts';
import { Previews } from './previews.ts';

const PICTURE = 'task_a/1-0.png';
const FILE = {
  apiKeyId: 'key_a',
  task: { id: 'task_a' },
  output: { type: 'image', index: 0, storage_key: PICTURE },
  expiresAt: new Date('2100-01-01'),
  isPresent: true,
} as OutputFile;
const DELETED: OutputFile = { ...FILE, isPresent: false };
const EXPIRED: OutputFile = { ...DELETED, expiresAt: new Date('2000-01-01') };

describe('a preview', () => {
  let root: string;
  let storage: DiskStorage;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'darkroom-previews-'));
    storage = new DiskStorage(root);
    const picture = sharp({ create: { width: 600, height: 300, channels: 3, background: 'red' } });
    await storage.put(PICTURE, await picture.png().toBuffer());
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const names = async () => (await readdir(root, { recursive: true })).toSorted();

  /** @param meanwhile what happens after the preview was asked for, and what the record says then */
  const open = (meanwhile: () => Promise<OutputFile | null>) =>
    new Previews(storage, { findAgain: meanwhile } as unknown as TaskFiles).open(FILE, 256);

  it('is made once, and kept beside its picture', async () => {
    const bytes = await open(async () => FILE);
    expect(await sharp(bytes as Buffer).metadata()).toMatchObject({ format: 'webp', width: 256, height: 128 });
    expect(await names()).toEqual(['task_a', 'task_a/1-0.png', 'task_a/preview-0-256.webp']);
  });

  it.each([
    ['deleted', DELETED, ['task_a']],
    ['expired', EXPIRED, []],
    ['erased', null, []],
  ])('is not left behind when its picture is %s while it is made', async (_what, record, left) => {
    const opened = open(async () => {
      await storage.delete(PICTURE);
      return record;
    });
    await expect(opened).rejects.toMatchObject({ code: 'file_expired' });
    expect(await names()).toEqual(left);
  });

  it.each([
    ['deleted', DELETED],
    ['erased', null],
  ])('expires with its picture that was %s before it was read', async (_what, record) => {
    await storage.deleteAll('task_a/');
    await expect(open(async () => record)).rejects.toMatchObject({ code: 'file_expired' });
  });

  it('is not there for a picture of more than 100 million pixels', async () => {
    const large = { ...FILE, output: { ...FILE.output, width: 10_001, height: 10_000 } };
    const previews = new Previews(storage, {} as TaskFiles);
    await expect(previews.open(large, 256)).rejects.toMatchObject({ code: 'variant_not_available' });
  });

  it('is a fault of the service when its picture is missing although it should be there', async () => {
    await storage.delete(PICTURE);
    await expect(open(async () => FILE)).rejects.toThrow(StoredFileMissing);
  });
});
