import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The bytes of the pictures that came inside the requests of an API key: the sum of `request_bytes` of its blobs. */
@Entity('request_file_sums')
export class RequestFileSum {
  @PrimaryColumn('text') api_key_id: string;
  /** Text, because a bigint may not fit a number of JavaScript. */
  @Column('bigint') bytes: string;
}
