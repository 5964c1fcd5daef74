import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { isPast } from '../../platform/database/past.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { ApiKeySecret } from '../api-keys/api-key-secret.entity.ts';
import { OneTimeCode } from './one-time-code.entity.ts';
import { isToken, newToken, tokenHashOf } from '../credentials/random-token.ts';

const CODE_TTL_MINUTES = 10;

/**
 * Links that sign a browser in without a typed key. Only somebody with access to the database or the terminal gets one.
 */
@Injectable()
export class OneTimeCodes {
  constructor(
    @InjectRepository(OneTimeCode) private readonly codes: Repository<OneTimeCode>,
    @InjectRepository(ApiKeySecret) private readonly secrets: Repository<ApiKeySecret>,
    private readonly config: Config,
  ) {}

  /**
   * A link that works once, within 10 minutes. The code is in the fragment, which no server and no log sees.
   * @param address where the browser reaches the service
   * @throws EntityNotFoundError for a key without a current secret
   */
  async linkFor(apiKeyId: string, address = this.config.publicUrl): Promise<string> {
    const secret = await this.secrets.findOneByOrFail({ api_key_id: apiKeyId, expires_at: IsNull() });
    const code = newToken();
    await this.codes.insert({
      hash: tokenHashOf(code),
      secret_hash: secret.hash,
      expires_at: () => `now() + interval '${CODE_TTL_MINUTES} minutes'`,
    });
    return `${address}/app/sign-in#code=${code}`;
  }

  /**
   * Spends a code. Of two requests with the same code, the database lets only one delete the row.
   * @returns the hash of the secret that the code stands for
   * @throws ApiError invalid_sign_in_code when the code is unknown, used or too old
   */
  async spend(code: string): Promise<Buffer> {
    if (!isToken(code)) throw new ApiError('invalid_sign_in_code');
    const { raw } = await this.codes
      .createQueryBuilder()
      .delete()
      .where('hash = :hash and expires_at > now()', { hash: tokenHashOf(code) })
      .returning('secret_hash')
      .execute();
    const [spent] = raw as { secret_hash: Buffer }[];
    if (!spent) throw new ApiError('invalid_sign_in_code');
    return spent.secret_hash;
  }

  /** @returns how many were deleted */
  async purge(): Promise<number> {
    const { affected } = await this.codes.delete({ expires_at: isPast() });
    return affected ?? 0;
  }
}
