import { createHash } from 'node:crypto';
import sharp from 'sharp';
import type { Answer, Api, ErrorBody } from './api.ts';

/** A file as a client reads it. */
export interface FileBody {
  id: string;
  object: string;
  bytes: number;
  created_at: number;
  expires_at: number;
  filename: string;
  purpose: string;
  status: string;
  content_type: string;
  width?: number;
  height?: number;
  sha256: string | null;
  url: string | null;
  url_expires_at: number | null;
  task_id?: string;
  upload?: { method: string; url: string; headers: Record<string, string>; expires_at: number };
}

/** A client of /v1/files. */
export class FilesClient {
  constructor(readonly api: Api) {}

  /** @param fields the text parts of the form, sent before the file */
  async upload<Body = FileBody>(
    bytes: Uint8Array | string,
    fields: Record<string, string> = {},
    { name = 'picture.png', type = 'image/png' } = {},
  ): Promise<Answer<Body>> {
    const form = new FormData();
    for (const [field, text] of Object.entries(fields)) form.append(field, text);
    form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), name);
    return this.send<Body>(form);
  }

  async send<Body = ErrorBody>(form: FormData): Promise<Answer<Body>> {
    const reply = await fetch(`${this.api.baseUrl}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.api.key}` },
      body: form,
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: JSON.parse(text) as Body, text };
  }

  /** Announces a file, and then sends its bytes. */
  async announce(bytes: Buffer, more: object = {}): Promise<FileBody> {
    const { body } = await this.api.call<FileBody>('POST', '/v1/files', {
      filename: 'direct.png',
      bytes: bytes.length,
      content_type: 'image/png',
      ...more,
    });
    return body;
  }

  put({ upload }: FileBody, bytes: Buffer, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(upload!.url, {
      method: 'PUT',
      headers: { ...upload!.headers, ...headers },
      body: bytes as Buffer<ArrayBuffer>,
    });
  }

  complete<Body = FileBody>(id: string): Promise<Answer<Body>> {
    return this.api.call<Body>('POST', `/v1/files/${id}/complete`);
  }

  read<Body = FileBody>(id: string): Promise<Answer<Body>> {
    return this.api.get<Body>(`/v1/files/${id}`);
  }

  content(id: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.api.baseUrl}/v1/files/${id}/content`, {
      headers: { authorization: `Bearer ${this.api.key}`, ...headers },
    });
  }
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

let shade = 0;
/** A picture whose bytes no earlier picture had. */
export function aPicture(width = 8, height = 6, format: 'png' | 'jpeg' | 'webp' = 'png'): Promise<Buffer> {
  const at = shade++;
  const background = { r: at % 256, g: (at >> 8) % 256, b: 77 };
  return sharp({ create: { width, height, channels: 3, background } })
    .toFormat(format, { quality: 100, lossless: true })
    .toBuffer();
}
