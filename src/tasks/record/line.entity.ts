import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Where the line of waiting tasks is: the last place from which a task has started. The table has one row. */
@Entity('line')
export class Line {
  @PrimaryColumn('boolean') id: true;
  /** The place for normal priority; `low_place` is that for low priority. */
  @Column('bigint') place: string;
  @Column('bigint') low_place: string;
}
