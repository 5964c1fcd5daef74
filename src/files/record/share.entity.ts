import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A page of some files for people without a key. It stops no retention of its files. */
@Entity('shares')
export class Share {
  /** `share_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  /** In the order of the page. */
  @Column('text', { array: true }) file_ids: string[];
  @Column('boolean') show_prompt: boolean;
  @Column('timestamptz') created_at: Date;
  /** Nobody can open it after this time. */
  @Column('timestamptz') expires_at: Date;
}
