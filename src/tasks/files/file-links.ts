import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

export interface FileLink {
  url: string;
  /** Unix seconds. */
  expiresAt: number;
}

/** Signs links to files and checks them: whoever holds one may read that file, without an API key, until it expires. */
export class FileLinks {
  /** Made a key once: from bytes each signature would do so anew (17 µs, not 3). */
  private readonly secret: KeyObject;

  /**
   * @param secret of this purpose alone; another secret voids every link handed out
   * @param publicUrl without a trailing slash
   * @param ttlS how long a link works
   */
  constructor(
    secret: Buffer,
    private readonly publicUrl: string,
    private readonly ttlS: number,
  ) {
    this.secret = createSecretKey(secret);
  }

  /** @param notAfter unix seconds at which the file itself goes: no link promises more */
  sign(fileId: string, notAfter = Infinity, nowMs: number = Date.now()): FileLink {
    const expiresAt = Math.min(Math.floor(nowMs / 1000) + this.ttlS, Math.floor(notAfter));
    const signature = this.signatureOf(fileId, String(expiresAt)).toString('base64url');
    return {
      url: `${this.publicUrl}/v1/files/${fileId}/content?expires=${expiresAt}&signature=${signature}`,
      expiresAt,
    };
  }

  /** Takes the query parameters as they came: anything but one text each is no signature. */
  verify(fileId: string, expires: unknown, signature: unknown, nowMs: number = Date.now()): boolean {
    if (typeof expires !== 'string' || typeof signature !== 'string') return false;
    // One spelling each: no padding, no leading zero, nothing a lenient decoder would skip.
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
