import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import type { Storage } from '../../platform/storage/storage.ts';
import type { FileLinks } from '../../tasks/read/file-links.ts';
import type { ArchiveFile, ArchiveFiles } from './archive-files.ts';
import { Archives } from './archives.ts';
import { OpenArchives } from './open-archives.ts';

describe('an archive', () => {
  it('of which a file is lost says so in the log', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const lost = new Error('The file is gone.');
    const content = { apiKeyId: 'key_a', storageKey: 'a', bytes: 3 };
    const present = async () => [{ name: 'a.png', content, modifiedAt: new Date(1_800_000_000_000) } as ArchiveFile];
    const open = () => Promise.reject(lost);
    const archives = new Archives(
      { present } as unknown as ArchiveFiles,
      {} as FileLinks,
      { open } as unknown as Storage,
      new OpenArchives(),
    );
    const { stream } = await archives.read(['file_a']);
    await once(stream.resume(), 'close').catch(() => undefined);
    expect(warn).toHaveBeenCalledWith({ event: 'archive.failed', err: lost });
    warn.mockRestore();
  });
});
