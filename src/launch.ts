/**
 * Starts the bundled program: the build puts this file beside it as main.js. It keeps what V8 has compiled for a start, so
 * that the next one need not compile it again. Node's own cache holds only what is compiled when a file is read, less than half of it.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { boundBufferGarbage } from './platform/buffer-garbage.ts';

/** The code is kept this long after the start, because it takes up to a quarter of a second. */
const KEEP_AFTER_MS = 1_000;

const FOLDER = `${import.meta.dirname}/`;
const COMPILED = `${FOLDER}compiled/`;
const CHECKSUM_BYTES = 4;

/** How Node wraps a CommonJS file. */
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) {', '\n})'] as const;

type Wrapped = (...given: unknown[]) => void;

const loaded = new Map<string, { exports: object }>();
/** With the checksum of its text. */
const notKept = new Map<string, { script: Script; checksum: number }>();

/** As Node's `require` of a file of the bundle. */
function load(name: string): object {
  const known = loaded.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const fromFile = createRequire(FOLDER + name);
  const require = (id: string): unknown => (id.startsWith('./') ? load(id.slice(2)) : fromFile(id));
  const wrapped = compile(name).runInThisContext() as Wrapped;
  wrapped(module.exports, Object.assign(require, fromFile), module, FOLDER + name, FOLDER);
  return module.exports;
}

function compile(name: string): Script {
  const text = readFileSync(FOLDER + name);
  const checksum = crc32(text);
  const cachedData = compiledCode(name, checksum);
  // The bundle is ASCII. V8 keeps it in half the memory that other characters would take.
  const script = new Script(WRAPPER[0] + text.toString('latin1') + WRAPPER[1], {
    filename: FOLDER + name,
    ...(cachedData && { cachedData }),
  });
  if (!cachedData || script.cachedDataRejected) notKept.set(name, { script, checksum });
  return script;
}

/** V8 checks its own version and flags, but neither whether the code is whole nor what text it was compiled from. */
function compiledCode(name: string, checksum: number): Buffer | null {
  try {
    const file = readFileSync(COMPILED + name);
    const code = file.subarray(CHECKSUM_BYTES);
    return crc32(code, checksum) === file.readUInt32LE() ? code : null;
  } catch {
    return null; // not kept yet
  }
}

/** Keeps also the functions that were compiled when the start called them. Another process may do the same. */
function keepCompiled(): void {
  const unfinished = `${COMPILED}unfinished.${process.pid}`;
  try {
    if (notKept.size > 0) mkdirSync(COMPILED, { recursive: true });
    for (const [name, { script, checksum }] of notKept) {
      const code = script.createCachedData();
      const head = Buffer.alloc(CHECKSUM_BYTES);
      head.writeUInt32LE(crc32(code, checksum));
      writeFileSync(unfinished, Buffer.concat([head, code]));
      renameSync(unfinished, COMPILED + name);
    }
  } catch {
    // The folder cannot be written, such as that of another user, or the disk is full: each start compiles.
    rmSync(unfinished, { force: true });
  }
  notKept.clear();
}

boundBufferGarbage(); // first: V8 takes no code that was compiled with other flags
const { started } = load('main.cjs') as { started: Promise<void> };
void started.then(() => setTimeout(keepCompiled, KEEP_AFTER_MS).unref());
