import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ModelDocument } from '../definition/model.ts';

/** One version of a model, kept whole for the tasks that were created under it. */
@Entity('model_versions')
export class ModelVersion {
  @PrimaryColumn('text') id: string;
  @PrimaryColumn('text') version: string;
  @Column('json') document: ModelDocument;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  /** When a process last reported that it has this version loaded. Until then, tasks may have been created under it. */
  @Column('timestamptz', { default: () => 'now()' }) loaded_at: Date;
}
