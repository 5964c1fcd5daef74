import { type EntityManager, Raw } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { ApiKey } from './api-key.entity.ts';

/** By the database's clock. @throws ApiError value_out_of_range */
export async function assertNotExpired(tx: EntityManager, id: string): Promise<void> {
  if (!(await tx.existsBy(ApiKey, { id, expires_at: Raw((column) => `${column} <= now()`) }))) return;
  throw new ApiError('value_out_of_range', { param: 'expires_at', message: 'expires_at must be in the future.' });
}
