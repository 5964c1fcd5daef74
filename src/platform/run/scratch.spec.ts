import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeScratch, removeAbandonedScratch } from './scratch.ts';

const folderOf = (pid: number) => join(tmpdir(), `darkroom-run-${pid}-spec`);

it('removes the folders of killed processes, and no others', async () => {
  const gone = folderOf(spawnSync(process.execPath, ['--version']).pid);
  const living = folderOf(process.ppid);
  const other = join(tmpdir(), 'darkroom-runabout-spec');
  const own = makeScratch();
  const before = folderOf(process.pid);
  for (const folder of [gone, living, other, before]) mkdirSync(folder);
  utimesSync(before, 1, 1); // left by an earlier process with the same id, as in a container
  writeFileSync(join(gone, 'film.mp4'), 'frames');
  try {
    await removeAbandonedScratch();
    expect([gone, before, own, living, other].map((folder) => existsSync(folder))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  } finally {
    for (const folder of [gone, before, own, living, other]) rmSync(folder, { recursive: true, force: true });
  }
});
