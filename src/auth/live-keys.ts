import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import { Authenticator } from './authenticator.ts';

/** A revoked key has nothing open 5 s later (contract 6): asked every 2 s, and the answer is never an old one. */
const LOOK_MS = 2_000;

interface Held {
  apiKeyId: string;
  refused: Set<() => void>;
}

/** What an API key let in, for as long as it stays. */
export interface Admission {
  apiKeyId: string;
  /** Call when it has left. */
  release(): void;
}

/** Watches the keys of everything that stays open: sockets and event streams. All of one key cost one look. */
@Injectable()
export class KeyWatch implements OnApplicationShutdown {
  private readonly logger = new Logger('auth');
  private readonly held = new Map<string, Held>();
  private looks: NodeJS.Timeout | undefined;
  private looking = false;

  constructor(private readonly authenticator: Authenticator) {}

  /**
   * @param authorization the header, `Bearer <API_KEY>`
   * @param refused called once when the key is revoked or has expired
   * @throws ApiError missing_api_key, invalid_api_key, api_key_revoked, api_key_expired
   */
  async admit(authorization: string | undefined, refused: () => void): Promise<Admission> {
    const { apiKeyId } = await this.authenticator.authenticateHeader(authorization);
    const header = authorization!; // without one nobody is let in
    const held = this.held.get(header) ?? { apiKeyId, refused: new Set() };
    this.held.set(header, held);
    held.refused.add(refused);
    this.looks ??= setInterval(() => void this.look(), LOOK_MS).unref();
    return {
      apiKeyId,
      release: () => {
        held.refused.delete(refused);
        if (held.refused.size === 0 && this.held.get(header) === held) this.held.delete(header);
      },
    };
  }

  onApplicationShutdown(): void {
    clearInterval(this.looks);
  }

  /** All keys at once: their look-ups become one statement. */
  private async look(): Promise<void> {
    if (this.looking || this.held.size === 0) return;
    this.looking = true;
    for (const apiKeyId of new Set([...this.held.values()].map((held) => held.apiKeyId))) {
      this.authenticator.forget(apiKeyId);
    }
    await Promise.all([...this.held].map(([header, held]) => this.ask(header, held)));
    this.looking = false;
  }

  private async ask(header: string, held: Held): Promise<void> {
    try {
      await this.authenticator.authenticateHeader(header);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) return; // the database is away: no word against the key
      if (this.held.get(header) === held) this.held.delete(header);
      this.logger.log({
        event: 'key.live_refused',
        api_key_id: held.apiKeyId,
        code: error.code,
        open: held.refused.size,
      });
      for (const refused of held.refused) refused();
    }
  }
}
