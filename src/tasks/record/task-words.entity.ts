import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The prompts of final tasks, in a table of their own, so that the end of a task does not pay for the index of words.
 */
@Entity('task_words')
export class TaskWords {
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') prompt: string;
}

/** How far `task_words` is filled. The table has one row. */
@Entity('words_state')
export class WordsState {
  /** `task_words` has the prompts of the tasks that ended until this time. */
  @PrimaryColumn('timestamptz') through: Date;
}
