import { createReadStream, createWriteStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { DataSource } from 'typeorm';
import { ApiKey } from '../../auth/api-keys/api-key.entity.ts';
import { AuthModule } from '../../auth/auth.module.ts';
import { BatchesModule } from '../../batches/batches.module.ts';
import { FilesModule } from '../../files/files.module.ts';
import { GenerationModule } from '../../generation/generation.module.ts';
import { ModelsModule } from '../../models/models.module.ts';
import { GraphqlModule } from '../../platform/graphql/graphql.module.ts';
import { VERSION } from '../../platform/config/version.ts';
import { TasksModule } from '../../tasks/tasks.module.ts';
import { UsageModule } from '../../usage/usage.module.ts';
import { WebhooksModule } from '../../webhooks/webhooks.module.ts';
import { type Digest, digestInto } from '../backup/digest.ts';
import { withService } from '../installation/with-service.ts';
import { type ExportedFiles, exportFiles, FILES } from './export-files.ts';
import { beginExport, finishExport } from './export-folder.ts';
import { KINDS, type Kind, type Source, sourceOf } from './kinds.ts';

/** Raise this number when the layout of the folder changes. */
const FORMAT = 1;

const MODULES = [
  GraphqlModule,
  AuthModule,
  ModelsModule,
  TasksModule,
  FilesModule,
  GenerationModule,
  BatchesModule,
  UsageModule,
  WebhooksModule,
];

interface ExportOptions {
  out: string;
  /** Whether to copy the bytes of uploads and outputs too. */
  files?: true;
  json?: true;
}

interface ExportedKind extends Digest {
  file: string;
  lines: number;
}

interface Manifest {
  format: number;
  /** The version of the program that wrote the export. */
  version: string;
  api_key_id: string;
  exported_at: string;
  kinds: Record<string, ExportedKind>;
  /** null: without files. */
  files: ExportedFiles | null;
}

/**
 * Writes what an API key has, as the API shows it, to a folder that is new, empty or an unfinished export. The key may
 * be revoked.
 */
export async function exportKey(id: string, { out, files, json }: ExportOptions): Promise<void> {
  const folder = resolve(out);
  const manifest = await withService(MODULES, async (app, config) => {
    const apiKey = await app.get(DataSource, { strict: false }).getRepository(ApiKey).findOneBy({ id });
    if (!apiKey) throw new Error(`There is no API key ${id}.`);
    const draft = await beginExport(folder, [...Object.keys(KINDS).map(fileOf), FILES]);
    const source = sourceOf(app, apiKey, config.usageRetentionDays);
    const exported_at = new Date().toISOString();
    const kinds: Manifest['kinds'] = {};
    for (const [name, kind] of Object.entries(KINDS)) kinds[name] = await exportKind(source, kind, draft, name);
    const bytes = files ? await exportFiles(source, fileIds(draft), draft) : null;
    const written: Manifest = { format: FORMAT, version: VERSION, api_key_id: id, exported_at, kinds, files: bytes };
    await finishExport(folder, written);
    return written;
  });
  if (json) return console.log(JSON.stringify(manifest, null, 2));
  const lines = Object.entries(manifest.kinds).map(([name, kind]) => `${kind.lines} ${name}`);
  console.error(`${lines.join(', ')}${filesIn(manifest)} are in ${folder}.`);
}

const fileOf = (kind: string): string => `${kind}.ndjson`;

async function exportKind(source: Source, kind: Kind, folder: string, name: string): Promise<ExportedKind> {
  const file = fileOf(name);
  let lines = 0;
  async function* text(): AsyncGenerator<Buffer> {
    for await (const item of kind(source)) {
      lines += 1;
      yield Buffer.from(`${JSON.stringify(item)}\n`);
    }
  }
  const target = createWriteStream(join(folder, file), { flags: 'wx', mode: 0o600, flush: true });
  const digest = await digestInto(Readable.from(text()), target);
  return { file, lines, ...digest };
}

/** Reads the ids from the lines that were just written, because the ids of all files might not fit in memory. */
async function* fileIds(folder: string): AsyncGenerator<string> {
  const linesOf = (name: string) => createInterface({ input: createReadStream(join(folder, fileOf(name))) });
  for await (const line of linesOf('tasks')) {
    const { result } = JSON.parse(line) as { result?: { outputs: { id: string; url: string | null }[] } };
    for (const { id, url } of result?.outputs ?? []) if (url) yield id;
  }
  for await (const line of linesOf('files')) {
    const { id, status } = JSON.parse(line) as { id: string; status: string };
    if (status === 'processed') yield id;
  }
}

function filesIn({ files }: Manifest): string {
  if (files === null) return '';
  const lacking = (['missing', 'damaged'] as const)
    .filter((why) => files[why].length > 0)
    .map((why) => `, ${files[why].length} ${why}`);
  return ` and the bytes of ${files.count} files (${files.bytes} bytes${lacking.join('')})`;
}
