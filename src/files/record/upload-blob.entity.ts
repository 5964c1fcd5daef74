import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The stored bytes of uploads. An API key has one row for each hash, apart from rows with `doomed_at`. */
@Entity('upload_blobs')
export class UploadBlob {
  /** The key in storage. No key is used twice, so a late delete removes no new bytes. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  /** Hex; null for bytes that a client puts into storage itself. */
  @Column('text', { nullable: true }) sha256: string | null;
  /** The last time that an upload began to use the bytes. */
  @Column('timestamptz') used_at: Date;
  /** When an upload stopped using the bytes. The purge checks whether others still use them. */
  @Column('timestamptz', { nullable: true }) released_at: Date | null;
  /** The bytes are deleted after this time. While they are being written, it is a time in the future. */
  @Column('timestamptz', { nullable: true }) doomed_at: Date | null;
  /** Until this time a worker has reserved the bytes, to delete them. */
  @Column('timestamptz', { nullable: true }) purge_after: Date | null;
  /**
   * Bytes that a client may put into storage until `doomed_at`, with a link that the service cannot revoke; null: no
   * link.
   */
  @Column('integer', { nullable: true }) announced_bytes: number | null;
  /** Bytes that count as pictures of requests; null while no request has brought them. */
  @Column('integer', { nullable: true }) request_bytes: number | null;
}
