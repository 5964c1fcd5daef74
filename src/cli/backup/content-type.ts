import { extname } from 'node:path';

/** The content types of the files that the service writes itself, by file extension. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.mp4': 'video/mp4',
};

export const contentTypeOf = (key: string): string => BY_EXTENSION[extname(key)] ?? 'application/octet-stream';
