import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ModelDocument } from '../definition/model.ts';

/** A model in one version, whole, for the tasks that were created under it. */
@Entity('model_versions')
export class ModelVersion {
  @PrimaryColumn('text') id: string;
  @PrimaryColumn('text') version: string;
  @Column('json') document: ModelDocument;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  /** When a process that has it loaded said so last. Tasks of it may be created until then. */
  @Column('timestamptz', { default: () => 'now()' }) loaded_at: Date;
}
