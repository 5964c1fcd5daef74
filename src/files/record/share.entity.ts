import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A page of some files for people without a key. It does not prolong the retention of its files. */
@Entity('shares')
export class Share {
  /** `share_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  /** The files, in the order of the page. */
  @Column('text', { array: true }) file_ids: string[];
  @Column('boolean') show_prompt: boolean;
  @Column('timestamptz') created_at: Date;
  /** Nobody can open the page after this time. */
  @Column('timestamptz') expires_at: Date;
}
