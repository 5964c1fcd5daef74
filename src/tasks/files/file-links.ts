import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

export interface FileLink {
  url: string;
  /** Unix seconds. */
  expiresAt: number;
}

/** Signs and verifies links to files. A link permits reading one file without an API key until the link expires. */
export class FileLinks {
  /** A KeyObject, because a signature with raw bytes imports the key each time (17 µs, not 3). */
  private readonly secret: KeyObject;

  /**
   * @param secret used for nothing else; changing it invalidates every link
   * @param publicUrl without a trailing slash
   * @param ttlS lifetime of a link, seconds
   */
  constructor(
    secret: Buffer,
    private readonly publicUrl: string,
    private readonly ttlS: number,
  ) {
    this.secret = createSecretKey(secret);
  }

  /** @param notAfter unix seconds at which the file is deleted; the link expires no later */
  sign(fileId: string, notAfter = Infinity, nowMs: number = Date.now()): FileLink {
    const expiresAt = Math.min(Math.floor(nowMs / 1000) + this.ttlS, Math.floor(notAfter));
    const signature = this.signatureOf(fileId, String(expiresAt)).toString('base64url');
    return {
      url: `${this.publicUrl}/v1/files/${fileId}/content?expires=${expiresAt}&signature=${signature}`,
      expiresAt,
    };
  }

  /** Takes the raw query parameters: anything but one string each is refused. */
  verify(fileId: string, expires: unknown, signature: unknown, nowMs: number = Date.now()): boolean {
    if (typeof expires !== 'string' || typeof signature !== 'string') return false;
    // Accept one spelling only: no padding, no leading zero, no characters that a lenient decoder would skip.
    if (!/^[1-9][0-9]{0,11}$/.test(expires) || !/^[\w-]{43}$/.test(signature)) return false;
    const expected = this.signatureOf(fileId, expires);
    const given = Buffer.from(signature, 'base64url');
    if (given.toString('base64url') !== signature) return false;
    return timingSafeEqual(given, expected) && Number(expires) * 1000 > nowMs;
  }

  private signatureOf(fileId: string, expires: string): Buffer {
    return createHmac('sha256', this.secret).update(`${fileId}\n${expires}`).digest();
  }
}
