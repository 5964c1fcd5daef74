import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How far the line of waiting tasks has moved: the last place from which a task has started. The table has one row. */
@Entity('line')
export class Line {
  @PrimaryColumn('boolean') id: true;
  /** The place in the line of normal priority; `low_place` is the place in the line of low priority. */
  @Column('bigint') place: string;
  @Column('bigint') low_place: string;
}
