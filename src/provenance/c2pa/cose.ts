import { sign, type KeyObject } from 'node:crypto';

/**
 * The signature of a claim: COSE_Sign1 (RFC 9052, 4.2) with a detached payload and the certificates in `x5chain` (RFC
 * 9360). c2pa-wasm leaves the signature to its caller. This file needs no library, because the signature has only a few
 * kinds of CBOR values (RFC 8949).
 */

/** `cose`: the number in IANA's registry. `length`: the bytes of a signature. */
interface Algorithm {
  c2pa: string;
  cose: number;
  hash: string | null;
  length: number;
}

export interface ClaimSigner {
  /** The name that C2PA gives to the algorithm. */
  algorithm: string;
  /** The number of bytes that `sign` returns. */
  length: number;
  sign(claim: Uint8Array): Uint8Array;
}

/** @returns null when C2PA has no algorithm for such a key */
export function algorithmOf(key: KeyObject): Algorithm | null {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ed25519') return { c2pa: 'ed25519', cose: -8, hash: null, length: 64 };
  if (key.asymmetricKeyType?.startsWith('rsa') && modulusLength >= 2048) {
    return { c2pa: 'ps256', cose: -37, hash: 'sha256', length: Math.ceil(modulusLength / 8) };
  }
  if (namedCurve === 'prime256v1') return { c2pa: 'es256', cose: -7, hash: 'sha256', length: 64 };
  if (namedCurve === 'secp384r1') return { c2pa: 'es384', cose: -35, hash: 'sha384', length: 96 };
  if (namedCurve === 'secp521r1') return { c2pa: 'es512', cose: -36, hash: 'sha512', length: 132 };
  return null;
}

/** @param certificates in DER: the signer's, then those that lead to the root */
export function claimSigner(key: KeyObject, certificates: readonly Uint8Array[]): ClaimSigner {
  const algorithm = algorithmOf(key);
  if (!algorithm) throw new Error('C2PA has no algorithm for this key');
  const chain = certificates.map((certificate) => bytes(certificate));
  const x5chain = chain.length === 1 ? chain[0]! : array(...chain);
  const protectedHeader = bytes(map([integer(1), integer(algorithm.cose)], [integer(33), x5chain]));
  const message = (signature: Uint8Array): Buffer =>
    Buffer.concat([head(6, SIGN1_TAG), array(protectedHeader, map(), NULL, bytes(signature))]);
  return {
    algorithm: algorithm.c2pa,
    length: message(Buffer.alloc(algorithm.length)).length,
    sign: (claim) => {
      const signed = array(text('Signature1'), protectedHeader, bytes(Buffer.alloc(0)), bytes(claim));
      return message(sign(algorithm.hash, signed, keyOptions(key)));
    },
  };
}

const keyOptions = (key: KeyObject) => ({
  key,
  dsaEncoding: 'ieee-p1363' as const,
  ...(key.asymmetricKeyType?.startsWith('rsa') ? { padding: RSA_PKCS1_PSS_PADDING, saltLength: 32 } : {}),
});

const RSA_PKCS1_PSS_PADDING = 6; // the value in crypto.constants
const SIGN1_TAG = 18;
const NULL = Buffer.from([0xf6]);

/**
 * Encodes the major type and its argument in as few bytes as possible. RFC 9052 allows no other form in what is signed.
 */
function head(major: number, argument: number): Buffer {
  const type = major << 5;
  if (argument < 24) return Buffer.from([type | argument]);
  if (argument < 2 ** 8) return Buffer.from([type | 24, argument]);
  const long = argument >= 2 ** 16;
  const bytes = Buffer.from([type | (long ? 26 : 25), 0, 0, ...(long ? [0, 0] : [])]);
  bytes.writeUIntBE(argument, 1, long ? 4 : 2);
  return bytes;
}

const integer = (value: number): Buffer => (value < 0 ? head(1, -1 - value) : head(0, value));
const bytes = (value: Uint8Array): Buffer => Buffer.concat([head(2, value.length), value]);
const text = (value: string): Buffer => Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
const array = (...items: Buffer[]): Buffer => Buffer.concat([head(4, items.length), ...items]);
const map = (...entries: [Buffer, Buffer][]): Buffer => Buffer.concat([head(5, entries.length), ...entries.flat()]);
