import { Command, Option } from 'commander';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { File as StoredFile, UploadPurpose } from '@darkroom/client';
import { connect, connected, type Connection } from '../client/connect.ts';
import { table } from '../terminal/table.ts';
import { take } from '../terminal/take.ts';
import { wholeNumber } from '../terminal/options.ts';

/** `darkroom files …`: uploads, and the bytes of outputs. */
export function filesCommand(): Command {
  const files = new Command('files').description('Upload, list, download and delete files.');
  const purpose = new Option('--purpose <purpose>', 'what the file is for').choices(['vision', 'user_data', 'batch']);

  const upload = files
    .command('upload')
    .description('Upload a file and print its id.')
    .argument('<path>')
    .addOption(purpose.default('vision'))
    .action(async (path: string, options: Connection & { purpose: UploadPurpose }) => {
      const file = await connect(options).files.upload(path, { purpose: options.purpose });
      console.log(options.json ? JSON.stringify(file, null, 2) : file.id);
    });
  connected(upload, 'files upload bicycle.png');

  const list = files
    .command('list')
    .description('List the uploads, newest first.')
    .option('--limit <n>', 'how many files at most', wholeNumber, 20)
    .action(async (options: Connection & { limit: number }) => {
      const found = await take(connect(options).files.list(), options.limit);
      console.log(options.json ? JSON.stringify(found, null, 2) : table(found.map(rowOf)));
    });
  connected(list, 'files list --limit 5');

  const get = files
    .command('get')
    .description('Download a file, or an output (file_…_0), to a path or to stdout.')
    .argument('<id>', 'file_…')
    .option('--out <path>', 'the file to write; stdout when left out')
    .action(async (id: string, options: Connection & { out?: string }) => {
      const client = connect(options).files;
      if (options.json) return console.log(JSON.stringify(await client.get(id), null, 2));
      const body = Readable.fromWeb((await client.content(id)).body as never);
      const target = options.out === undefined ? process.stdout : createWriteStream(options.out);
      await pipeline(body, target, { end: options.out !== undefined });
    });
  connected(get, 'files get file_01jd8e5t9kf3qs7m2v4xw6yzab_0 --out bicycle.png');

  const remove = files
    .command('delete')
    .description('Delete an upload, or the bytes of an output.')
    .argument('<id>', 'file_…')
    .action(async (id: string, options: Connection) => {
      const deleted = await connect(options).files.delete(id);
      console.log(options.json ? JSON.stringify(deleted, null, 2) : `deleted ${deleted.id}`);
    });
  connected(remove, 'files delete file_01jd8e5t9kf3qs7m2v4xw6yzab');
  return files;
}

const rowOf = ({ id, filename, bytes, purpose, created_at }: StoredFile): Record<string, string> => ({
  id,
  filename,
  bytes: String(bytes),
  purpose,
  created: new Date(created_at * 1000).toISOString(),
});
