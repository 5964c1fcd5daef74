import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { type Config, ConfigError } from '../../platform/config/config.ts';
import { readTextFile } from '../../platform/config/text-file.ts';
import { algorithmOf } from './cose.ts';

/** What signs the outputs. The key is a KeyObject instead of text, so that no log and no error can show it. */
export interface Credential {
  key: KeyObject;
  /**
   * In DER, the signer's certificate first. Root certificates are left out, because a reader trusts only its own copy
   * of a root.
   */
  certificates: Buffer[];
  /** When the signer's certificate expires. */
  expiresAt: Date;
}

type Settings = Pick<Config, 'c2paCert' | 'c2paKey'>;

/** Reads C2PA_CERT and C2PA_KEY. @throws ConfigError */
export function readCredential({ c2paCert, c2paKey }: Settings, now = new Date()): Credential {
  const faults: string[] = [];
  const certificates = readCertificates(c2paCert!, faults);
  const key = readKey(c2paKey!, faults);
  const own = certificates[0];
  if (own && key) {
    if (!own.checkPrivateKey(key)) faults.push('C2PA_KEY is not the key of the first certificate in C2PA_CERT');
    if (!algorithmOf(key)) {
      faults.push('C2PA_KEY must be EC (P-256, P-384, P-521), Ed25519, or RSA of at least 2048 bits');
    }
    if (now > own.validToDate) faults.push(`C2PA_CERT expired on ${own.validToDate.toISOString()}`);
    if (now < own.validFromDate) faults.push(`C2PA_CERT is not valid before ${own.validFromDate.toISOString()}`);
  }
  if (faults.length > 0 || !own || !key) throw new ConfigError(faults);
  const chain = certificates.filter((certificate, i) => i === 0 || certificate.subject !== certificate.issuer);
  return { key, certificates: chain.map(({ raw }) => raw), expiresAt: own.validToDate };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** @returns an empty list if there is a fault */
function readCertificates(path: string, faults: string[]): X509Certificate[] {
  const text = readSetting('C2PA_CERT', path, faults);
  if (text === null) return [];
  const pems = text.match(CERTIFICATE) ?? [];
  if (pems.length === 0) faults.push(`C2PA_CERT: ${path} holds no certificate in PEM`);
  try {
    return pems.map((pem) => new X509Certificate(pem));
  } catch {
    faults.push(`C2PA_CERT: ${path} holds a certificate that cannot be read`);
    return [];
  }
}

/** @returns null if there is a fault */
function readKey(path: string, faults: string[]): KeyObject | null {
  const pem = readSetting('C2PA_KEY', path, faults);
  if (pem === null) return null;
  try {
    return createPrivateKey(pem);
  } catch {
    faults.push(`C2PA_KEY: ${path} holds no private key in PEM without a passphrase`);
    return null;
  }
}

function readSetting(variable: string, path: string, faults: string[]): string | null {
  try {
    return readTextFile(path);
  } catch (error) {
    faults.push(`${variable}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return null;
  }
}
