import type { EntityManager } from 'typeorm';
import { ApiKeySecret } from './api-key-secret.entity.ts';

/** Gives the key a current secret. Every other secret of the key must have an end. */
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
 * Ends all secrets of the key after at most `overlapHours`.
 * Expired secrets are kept for ever. By the hash, Bootstrap recognises a BOOTSTRAP_API_KEY that was rotated away. Without
 * the hash the next start would issue that key again, with every scope. A row takes about 100 bytes.
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
