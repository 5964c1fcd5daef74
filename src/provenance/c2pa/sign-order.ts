import type { KeyObject } from 'node:crypto';

/** What a signing thread is started with. */
export interface SignerData {
  key: KeyObject;
  /** DER. */
  certificates: Uint8Array[];
}

/** What is signed: `bytes`, or the file at `path`. The signed copy of a file is written to `target`. */
export type Subject = { bytes: Uint8Array } | { path: string; target: string };

export interface SignOrder {
  subject: Subject;
  contentType: string;
  /** The id of the model in this service. */
  model: string;
  /** Whether to read the signed bytes back and check them. */
  verify: boolean;
}

/**
 * `bytes` is null when the signed copy is in its file. `faults` are what a reader finds wrong, apart from a certificate
 * that it does not trust; empty without `verify`.
 */
export type SignReply = { ok: true; bytes: Uint8Array | null; faults: string[] } | { ok: false; message: string };
