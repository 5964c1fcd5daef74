import type { Config } from '../../platform/config/config.ts';
import { C2paSigner } from './c2pa-signer.ts';
import { readCredential } from './credential.ts';

/**
 * Signs a sample with C2PA_CERT and C2PA_KEY, if they are used.
 * @throws ConfigError when a file is faulty, or readers would not accept the signature; Error when the signing fails
 */
export async function checkCredential({ provenance, c2paCert, c2paKey }: Config): Promise<void> {
  // Another check reports missing settings.
  if (provenance !== 'c2pa' || c2paCert === null || c2paKey === null) return;
  const signer = new C2paSigner(readCredential({ c2paCert, c2paKey }));
  try {
    await signer.check();
  } finally {
    await signer.close();
  }
}
