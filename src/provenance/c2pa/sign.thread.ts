/**
 * The entry point of the signing thread. In development Node runs it by type stripping, so this file and everything it
 * imports must hold erasable TypeScript only.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { initSync, WasmBuilder, WasmReader } from '@contentauth/c2pa-wasm';
import { claimSigner } from './cose.ts';
import { manifestOf } from './manifest.ts';
import type { SignerData, SignOrder, SignReply } from './sign-order.ts';

const port = parentPort;
if (!port) throw new Error('sign.thread must be started by the signing thread of c2pa-signer');

/** What the library needs of a Blob, and `copy`, which the FileReaderSync below needs. */
type Slice = { readonly size: number; slice(from?: number, to?: number): Slice; copy(): ArrayBuffer };

function memorySlice(bytes: Uint8Array): Slice {
  const slice = (from = 0, to = bytes.length) => memorySlice(bytes.subarray(from, to));
  return { size: bytes.length, slice, copy: () => new Uint8Array(bytes).buffer };
}

function fileSlice(file: number, start: number, end: number): Slice {
  const size = end - start;
  const slice = (from = 0, to = size) => fileSlice(file, start + from, Math.min(end, start + to));
  const copy = () => {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size;) {
      const read = readSync(file, bytes, at, size - at, start + at);
      if (read === 0) throw new Error('the file became shorter while it was signed');
      at += read;
    }
    return bytes.buffer;
  };
  return { size, slice, copy };
}

// The library is built for browsers. It reads through `slice` of a Blob, and through FileReaderSync, which Node lacks.
Object.assign(globalThis, {
  FileReaderSync: class {
    readAsArrayBuffer(slice: Slice): ArrayBuffer {
      return slice.copy();
    }
  },
});

initSync({ module: readFileSync(createRequire(import.meta.url).resolve('@contentauth/c2pa-wasm/c2pa.wasm')) });
const { key, certificates } = workerData as SignerData;
const signer = claimSigner(key, certificates);
const definition = {
  alg: signer.algorithm,
  reserveSize: signer.length,
  sign: async (claim: Uint8Array) => new Uint8Array(signer.sign(claim)),
};
/** With these settings the library calls no other host, and does not read each file a second time. */
const CONTEXT = JSON.stringify({
  verify: { verify_after_sign: false, remote_manifest_fetch: false, ocsp_fetch: false },
});

port.on('message', (order: SignOrder) => void reply(order));

async function reply(order: SignOrder): Promise<void> {
  const signed = await answer(order);
  port?.postMessage(signed, signed.ok && signed.bytes ? [signed.bytes.buffer as ArrayBuffer] : []);
}

async function answer(order: SignOrder): Promise<SignReply> {
  try {
    const signed = await sign(order);
    const faults = order.verify ? await faultsOf(order.contentType, signed) : [];
    if (!('path' in order.subject)) return { ok: true, bytes: signed, faults };
    writeFileSync(order.subject.target, signed, { mode: 0o600 });
    return { ok: true, bytes: null, faults };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

async function sign({ subject, contentType, model }: SignOrder): Promise<Uint8Array> {
  const builder = WasmBuilder.fromJson(JSON.stringify(manifestOf(model)), CONTEXT);
  if ('bytes' in subject) return builder.sign(definition, [], contentType, blob(memorySlice(subject.bytes)));
  const file = openSync(subject.path, 'r');
  try {
    return await builder.sign(definition, [], contentType, blob(fileSlice(file, 0, fstatSync(file).size)));
  } finally {
    closeSync(file);
  }
}

const blob = (slice: Slice): Blob => slice as unknown as Blob;

interface Report {
  validation_results?: { activeManifest?: { failure?: { code: string; explanation?: string }[] } };
}

async function faultsOf(contentType: string, signed: Uint8Array): Promise<string[]> {
  const reader = await WasmReader.fromBytes(contentType, signed, CONTEXT);
  const report = JSON.parse(reader.json()) as Report;
  reader.free();
  const failures = report.validation_results?.activeManifest?.failure ?? [];
  return failures
    .filter(({ code }) => code !== 'signingCredential.untrusted')
    .map(({ code, explanation }) => `${code}: ${explanation ?? 'no explanation'}`);
}
