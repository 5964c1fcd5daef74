import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { open, rm } from 'node:fs/promises';
import { Config } from '../platform/config/config.ts';
import { counter } from '../platform/observe/measuring/declare.ts';
import { free } from '../platform/run/owned-bytes.ts';
import type { StorageBody } from '../platform/storage/storage.ts';
import { C2paSigner } from './c2pa/c2pa-signer.ts';
import { readCredential } from './c2pa/credential.ts';
import { fileSource, joinPieces, memorySource, writePieces } from './formats/byte-source.ts';
import { jpegWithXmp } from './formats/jpeg.ts';
import { mp4WithXmp } from './formats/mp4.ts';
import type { PacketOf } from './formats/packet-of.ts';
import { pngWithXmp } from './formats/png.ts';
import { webpWithXmp } from './formats/webp.ts';
import { Unmarkable } from './xmp/unmarkable.ts';
import { extendPacket, type MadeBy, newPacket } from './xmp/packet.ts';

const FORMATS: Record<string, typeof pngWithXmp> = {
  'image/png': pngWithXmp,
  'image/jpeg': jpegWithXmp,
  'image/webp': webpWithXmp,
  'video/mp4': mp4WithXmp,
};

/** An output with its type, as found in its bytes, and what made it. */
export interface Output extends MadeBy {
  body: StorageBody;
  contentType: string;
}

const marked = counter(
  'darkroom_outputs_marked_total',
  'Outputs by their mark: metadata, c2pa, kept (the provider had signed it), none (it could not be marked).',
  ['mark'],
);

/**
 * Marks outputs as made by a model: with XMP, and with PROVENANCE=c2pa also with a signed C2PA manifest that covers the
 * XMP. Marking never fails a task: a mark that cannot be added is left out.
 */
@Injectable()
export class Provenance implements OnModuleDestroy {
  private readonly logger = new Logger('provenance');
  private readonly signer: C2paSigner | null;

  /** @throws ConfigError */
  constructor(private readonly config: Config) {
    this.signer = config.provenance === 'c2pa' ? new C2paSigner(readCredential(config)) : null;
  }

  async onModuleDestroy(): Promise<void> {
    await this.signer?.close();
  }

  /** @returns the marked copy, in memory or in a file beside the given one; the given body if it is not changed */
  async mark(output: Output): Promise<StorageBody> {
    if (this.config.provenance === 'off') return output.body;
    const { body, reason } = await this.withXmp(output);
    if (reason === 'signed') return this.count('kept', body);
    const xmp = reason === null ? 'metadata' : 'none';
    if (!this.signer || reason === 'malformed') return this.count(xmp, body);
    try {
      const signed = await this.signer.sign(body, output.contentType, output.model);
      if (body !== output.body) await discard(body);
      return this.count('c2pa', signed);
    } catch (err) {
      this.logger.error({ event: 'output.signing_failed', task_id: output.taskId, err });
      return this.count(xmp, body);
    }
  }

  private async withXmp({ body, contentType, ...madeBy }: Output) {
    try {
      const format = FORMATS[contentType];
      if (!format) throw new Unmarkable('malformed', `no mark for ${contentType}`);
      const packetOf: PacketOf = (packet) => (packet === null ? newPacket(madeBy) : extendPacket(packet, madeBy));
      return { body: await rewrite(body, format, packetOf), reason: null };
    } catch (error) {
      const reason = error instanceof Unmarkable ? error.reason : 'malformed';
      const line = { event: 'output.left_as_is', task_id: madeBy.taskId, content_type: contentType, reason };
      if (reason === 'signed') this.logger.debug(line);
      else this.logger.warn({ ...line, err: error });
      return { body, reason };
    }
  }

  private count(mark: 'metadata' | 'c2pa' | 'kept' | 'none', body: StorageBody): StorageBody {
    marked.inc({ mark });
    return body;
  }
}

async function rewrite(body: StorageBody, format: typeof pngWithXmp, packetOf: PacketOf): Promise<StorageBody> {
  if (Buffer.isBuffer(body)) return joinPieces(body, await format(memorySource(body), packetOf));
  const file = await open(body.path, 'r');
  try {
    const { size } = await file.stat();
    const target = `${body.path}.marked`;
    await writePieces(file, await format(fileSource(file, size), packetOf), target);
    return { path: target };
  } finally {
    await file.close();
  }
}

async function discard(body: StorageBody): Promise<void> {
  if (Buffer.isBuffer(body)) free(body);
  else await rm(body.path, { force: true });
}
