import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Stored bytes of uploads. While `doomed_at` is null, an API key has one for each hash. */
@Entity('upload_blobs')
export class UploadBlob {
  /** The key in storage. Never used twice, so that a late delete meets no new bytes. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  /** Hex; null for bytes that a client puts there itself. */
  @Column('text', { nullable: true }) sha256: string | null;
  /** The last time that an upload began to use it. */
  @Column('timestamptz') used_at: Date;
  /** When an upload stopped using it: the purge checks whether others still use it. */
  @Column('timestamptz', { nullable: true }) released_at: Date | null;
  /** Deleted after this time. Also set, to a time in the future, while its bytes are being written. */
  @Column('timestamptz', { nullable: true }) doomed_at: Date | null;
  /** Reserved by a worker that deletes it, until then. */
  @Column('timestamptz', { nullable: true }) purge_after: Date | null;
  /** What a client may put there until `doomed_at` with a link that the service cannot take back; null otherwise. */
  @Column('integer', { nullable: true }) announced_bytes: number | null;
  /** What it counts among the pictures of requests; null while no request has brought it. */
  @Column('integer', { nullable: true }) request_bytes: number | null;
}
