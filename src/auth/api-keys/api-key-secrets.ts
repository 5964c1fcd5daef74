import type { EntityManager } from 'typeorm';
import { ApiKeySecret } from './api-key-secret.entity.ts';

/** Adds the current secret of the key. Every older secret of the key must have an expiry already. */
export async function addSecret(
  tx: EntityManager,
  { apiKeyId, hash, secretKeyId }: { apiKeyId: string; hash: Buffer; secretKeyId: string },
): Promise<void> {
  await tx.insert(ApiKeySecret, {
    hash,
    secret_key_id: secretKeyId,
    api_key_id: apiKeyId,
    created_at: () => 'now()',
  });
}

/**
 * Makes all secrets of the key expire within `overlapHours`. Expired secrets are kept for ever, because `Bootstrap`
 * recognises a rotated BOOTSTRAP_API_KEY by its hash. Without the hash the next start would issue that key again, with
 * every scope. A row takes about 100 bytes.
 */
export async function expireSecrets(tx: EntityManager, apiKeyId: string, overlapHours: number): Promise<void> {
  await tx
    .createQueryBuilder()
    .update(ApiKeySecret)
    .set({ expires_at: () => `least(expires_at, now() + :overlapHours * interval '1 hour')` })
    .where({ api_key_id: apiKeyId })
    .setParameter('overlapHours', overlapHours)
    .execute();
}
