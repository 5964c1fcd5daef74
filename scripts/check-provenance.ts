/**
 * Checks marked outputs of all formats with readers that npm does not have: exiftool, ffmpeg with ffprobe, and
 * c2pa-python. If a reader is not installed, a line says so. Exits with 1 when a check fails.
 *
 *   npm run build && node scripts/check-provenance.ts        PYTHON=/path/to/python with c2pa-python
 */
import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { makeSigningCredential } from '../test/support/servers/certificate.ts';
import { film } from '../test/support/stubs/media.ts';

const TASK = 'task_01jd8e5t9kf3qs7m2v4xw6yzab';
const folder = mkdtempSync(join(tmpdir(), 'darkroom-check-'));
let failed = false;

function run(command: string, ...args: string[]): string | null {
  const { status, stdout, error } = spawnSync(command, args, { encoding: 'utf8' });
  return error || status !== 0 ? null : stdout;
}

function report(ok: boolean, text: string): void {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${text}`);
  failed ||= !ok;
}

/** Checks that exiftool prints the XMP properties of the file. */
function checkXmp(path: string): void {
  const found = run('exiftool', '-s3', '-XMP:DigitalSourceType', '-XMP-darkroom:all', path);
  const words = ['trainedAlgorithmicMedia', 'gpt-image-2', TASK];
  report(found !== null && words.every((word) => found.includes(word)), `exiftool shows the XMP of ${path}`);
}

/** The size, the duration and the hash of every decoded frame. */
function playback(path: string): string | null {
  const entries = 'stream=width,height:format=duration';
  const described = run('ffprobe', '-v', 'error', '-show_entries', entries, '-of', 'csv=p=0', path);
  return described && described + String(run('ffmpeg', '-v', 'error', '-i', path, '-f', 'framemd5', '-'));
}

const READER = `
import json, sys, c2pa
settings = {"trust": {"trust_anchors": open(sys.argv[3]).read()}, "verify": {"verify_trust": True}}
reader = c2pa.Reader(sys.argv[1], open(sys.argv[2], "rb"), context=c2pa.Context(settings=c2pa.Settings.from_dict(settings)))
report = json.loads(reader.json())
print(report["validation_state"], report["validation_results"]["activeManifest"]["failure"])
`;

function checkC2pa(python: string, path: string, contentType: string): void {
  const found = run(python, '-c', READER, contentType, path, join(folder, 'root.pem'))?.trim();
  report(found === 'Trusted []', `c2pa-python says of ${path}: ${found ?? 'nothing'}`);
}

async function originals(): Promise<[string, string, Buffer][]> {
  const pixels = Buffer.from(Uint8Array.from({ length: 640 * 480 * 3 }, (_, i) => (i * 31 + (i >> 3)) % 256));
  const picture = sharp(pixels, { raw: { width: 640, height: 480, channels: 3 } });
  return [
    ['picture.png', 'image/png', await picture.clone().png().toBuffer()],
    ['picture.jpg', 'image/jpeg', await picture.clone().jpeg().toBuffer()],
    ['picture.webp', 'image/webp', await picture.clone().webp().toBuffer()],
    ['film.mp4', 'video/mp4', await film(320, 240, 4)],
  ];
}

async function main(): Promise<void> {
  // Imported from dist: the service's sources have decorators, which Node cannot strip.
  const dist = (path: string) => import(new URL(`../dist/${path}`, import.meta.url).href);
  const { Provenance } = (await dist('provenance/provenance.js')) as typeof import('../src/provenance/provenance.ts');
  const { loadConfig } = (await dist('platform/config/config.js')) as typeof import('../src/platform/config/config.ts');

  const credential = makeSigningCredential();
  for (const [name, text] of Object.entries(credential)) writeFileSync(join(folder, `${name}.pem`), text);
  const python = process.env.PYTHON ?? 'python3';
  const has = {
    exiftool: run('exiftool', '-ver') !== null,
    ffmpeg: run('ffprobe', '-version') !== null && run('ffmpeg', '-version') !== null,
    c2pa: run(python, '-c', 'import c2pa') !== null,
  };
  for (const [reader, found] of Object.entries(has)) if (!found) console.log(`skip ${reader}: not installed`);

  for (const mode of ['metadata', 'c2pa']) {
    const paths = { C2PA_CERT: join(folder, 'cert.pem'), C2PA_KEY: join(folder, 'key.pem') };
    const provenance = new Provenance(loadConfig({ PROVENANCE: mode, ...paths }));
    for (const [name, contentType, bytes] of await originals()) {
      const [original, path] = [join(folder, name), join(folder, `${mode}-${name}`)];
      writeFileSync(original, bytes);
      const marked = await provenance.mark({ body: bytes, contentType, model: 'gpt-image-2', taskId: TASK });
      writeFileSync(path, Buffer.isBuffer(marked) ? marked : readFileSync(marked.path));
      if (has.exiftool) checkXmp(path);
      if (has.ffmpeg) {
        const before = playback(original);
        report(before !== null && before === playback(path), `ffmpeg decodes ${path} to the same frames`);
      }
      if (has.c2pa && mode === 'c2pa') checkC2pa(python, path, contentType);
    }
    await provenance.onModuleDestroy();
  }
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
