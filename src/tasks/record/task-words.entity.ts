import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The prompt of a final task in a table of its own, so that an end does not pay for the index of words. */
@Entity('task_words')
export class TaskWords {
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') prompt: string;
}

/** The table has one row. */
@Entity('words_state')
export class WordsState {
  /** `task_words` has the prompts of the tasks that ended until this time. */
  @PrimaryColumn('timestamptz') through: Date;
}
