import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The stored bytes of uploads. An API key has at most one row for each hash, apart from rows with `doomed_at`. */
@Entity('upload_blobs')
export class UploadBlob {
  /** The key in storage. No key is used twice, so a late delete removes no new bytes. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  /** Hex; null for bytes that a client puts into storage itself, and for those of an erased API key. */
  @Column('text', { nullable: true }) sha256: string | null;
  /** The last time that an upload began to use the bytes. */
  @Column('timestamptz') used_at: Date;
  /** When an upload stopped using the bytes; null once the purge has checked whether other uploads use them. */
  @Column('timestamptz', { nullable: true }) released_at: Date | null;
  /**
   * The bytes are deleted after this time; null once they are usable. While they are being written, it is a time in the
   * future.
   */
  @Column('timestamptz', { nullable: true }) doomed_at: Date | null;
  /**
   * Until this time no worker takes the bytes to delete them, because another worker has taken them or a link still
   * permits writing them.
   */
  @Column('timestamptz', { nullable: true }) purge_after: Date | null;
  /**
   * The number of bytes that a client may put into storage until `doomed_at`, with a link that the service cannot
   * revoke; null without such a link.
   */
  @Column('integer', { nullable: true }) announced_bytes: number | null;
  /** The number of bytes that count as pictures of requests; null if no request has brought them. */
  @Column('integer', { nullable: true }) request_bytes: number | null;
}
