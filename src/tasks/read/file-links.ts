import { LRUCache } from 'lru-cache';
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { each, type NewestFirst } from '../../platform/config/secrets.ts';
import type { PreviewWidth } from './preview-key.ts';

export interface FileLink {
  url: string;
  /** Unix seconds. */
  expiresAt: number;
}

/** The parts of a link to a file of this service. The signature is not verified yet. */
export interface OwnLink {
  fileId: string;
  expires: string;
  signature: string;
}

/** What a link permits. The signature covers the permission, so a signature is valid for one permission only. */
const READ = '';
const WRITE = 'put ';
const ARCHIVE = 'archive ';
/** The most links in memory: those of the outputs on some pages of tasks, under 4 MB. */
const REMEMBERED_LINKS = 10_000;
const previewOf = (width: PreviewWidth): string => `preview ${width} `;

/** Signs and verifies links to files. A link permits reading one file without an API key until the link expires. */
export class FileLinks {
  /** KeyObjects. A signature with raw bytes would import the key each time, which takes 17 µs instead of 3. */
  private readonly secrets: NewestFirst<KeyObject>;
  /** Links by file. A link stays the same for a quarter of its lifetime. A new signature would cost 4 µs. */
  private readonly remembered = new LRUCache<string, FileLink>({
    maxSize: REMEMBERED_LINKS, // `max` would reserve 0.2 MB at once
    sizeCalculation: () => 1,
  });

  /**
   * @param secrets used for links only. The newest one signs; each of them verifies. A link whose secret is gone is
   *   invalid
   * @param publicUrl without a trailing slash
   * @param ttlS shortest lifetime of a link, seconds; the longest is a quarter more
   */
  constructor(
    secrets: NewestFirst<Buffer>,
    private readonly publicUrl: string,
    private readonly ttlS: number,
  ) {
    this.secrets = each(secrets, (secret) => createSecretKey(secret));
  }

  /** @param notAfter unix seconds at which the file is deleted; the link expires then at the latest */
  sign(fileId: string, notAfter = Infinity, nowMs: number = Date.now()): FileLink {
    const expiresAt = this.expiryOf(notAfter, nowMs);
    const earlier = this.remembered.get(fileId);
    if (earlier?.expiresAt === expiresAt) return earlier;
    const link = this.link(READ, fileId, expiresAt);
    this.remembered.set(fileId, link);
    return link;
  }

  /** @param expiresAt unix seconds, however far away */
  signUntil(fileId: string, expiresAt: number): FileLink {
    return this.link(READ, fileId, expiresAt);
  }

  /** A link with which a client may write the bytes of a pending file. */
  signUpload(fileId: string, lifetimeS: number, nowMs: number = Date.now()): FileLink {
    return this.link(WRITE, fileId, Math.floor(nowMs / 1000) + lifetimeS);
  }

  /** A link with which anyone can read a small still of an output. */
  signPreview(fileId: string, width: PreviewWidth, notAfter: number, nowMs: number = Date.now()): FileLink {
    const expiresAt = this.expiryOf(notAfter, nowMs);
    const signed = this.signedQuery(previewOf(width), fileId, expiresAt);
    return { url: `${this.publicUrl}/v1/files/${fileId}/preview?width=${width}&${signed}`, expiresAt };
  }

  verifyPreview(
    fileId: string,
    width: PreviewWidth,
    { expires, signature }: { expires: unknown; signature: unknown },
    nowMs: number = Date.now(),
  ): boolean {
    return this.isValid(previewOf(width), { fileId, expires, signature }, nowMs);
  }

  /** A link with which anyone can read a zip of these files. */
  signArchive(fileIds: readonly string[], nowMs: number = Date.now()): FileLink {
    const expiresAt = this.expiryOf(Infinity, nowMs);
    const ids = fileIds.join(',');
    const signed = this.signedQuery(ARCHIVE, ids, expiresAt);
    return { url: `${this.publicUrl}/v1/files/archive?file_ids=${ids}&${signed}`, expiresAt };
  }

  /** @param fileIds joined by commas, as in the link */
  verifyArchive(
    fileIds: string,
    { expires, signature }: { expires?: unknown; signature?: unknown },
    nowMs: number = Date.now(),
  ): boolean {
    return this.isValid(ARCHIVE, { fileId: fileIds, expires, signature }, nowMs);
  }

  /** Parses a link to a file of this service, without verifying it. @returns null for any other URL */
  parse(url: string): OwnLink | null {
    const parsed = URL.parse(url);
    const own = URL.parse(`${this.publicUrl}/v1/files/`);
    if (!parsed || !own || parsed.origin !== own.origin || !parsed.pathname.startsWith(own.pathname)) return null;
    const [fileId, content, ...rest] = parsed.pathname.slice(own.pathname.length).split('/');
    if (!fileId || content !== 'content' || rest.length > 0) return null;
    const { searchParams } = parsed;
    return {
      fileId,
      expires: searchParams.get('expires') ?? '',
      signature: searchParams.get('signature') ?? '',
    };
  }

  /**
   * Whether a link permits reading the file. `expires` and `signature` are raw query parameters: a value that is not a
   * single string is refused.
   */
  verify(fileId: string, expires: unknown, signature: unknown, nowMs: number = Date.now()): boolean {
    return this.isValid(READ, { fileId, expires, signature }, nowMs);
  }

  verifyUpload(fileId: string, expires: unknown, signature: unknown, nowMs: number = Date.now()): boolean {
    return this.isValid(WRITE, { fileId, expires, signature }, nowMs);
  }

  /**
   * The expiry of a link that is signed now, unix seconds. It is rounded up to a multiple of a quarter of the lifetime,
   * so that browsers and caches see the same link again. It is never later than `notAfter`.
   */
  expiryOf(notAfter: number, nowMs: number = Date.now()): number {
    const quarterS = Math.max(1, Math.floor(this.ttlS / 4));
    const expiresAt = Math.ceil((nowMs / 1000 + this.ttlS) / quarterS) * quarterS;
    return Math.min(expiresAt, Math.floor(notAfter));
  }

  private isValid(
    right: string,
    { fileId, expires, signature }: { fileId: string; expires: unknown; signature: unknown },
    nowMs: number,
  ): boolean {
    if (typeof expires !== 'string' || typeof signature !== 'string') return false;
    // Accept one spelling only: no padding, no leading zero, no characters that a lenient decoder would skip.
    if (!/^[1-9][0-9]{0,11}$/.test(expires) || !/^[\w-]{43}$/.test(signature)) return false;
    const given = Buffer.from(signature, 'base64url');
    if (given.toString('base64url') !== signature) return false;
    const isSigned = this.secrets.some((secret) => timingSafeEqual(given, signatureOf(secret, right, fileId, expires)));
    return isSigned && Number(expires) * 1000 > nowMs;
  }

  private link(right: string, fileId: string, expiresAt: number): FileLink {
    const signed = this.signedQuery(right, fileId, expiresAt);
    return { url: `${this.publicUrl}/v1/files/${fileId}/content?${signed}`, expiresAt };
  }

  private signedQuery(right: string, fileId: string, expiresAt: number): string {
    const signature = signatureOf(this.secrets[0], right, fileId, String(expiresAt)).toString('base64url');
    return `expires=${expiresAt}&signature=${signature}`;
  }
}

const signatureOf = (secret: KeyObject, right: string, fileId: string, expires: string): Buffer =>
  createHmac('sha256', secret).update(`${right}${fileId}\n${expires}`).digest();
