import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ModelDocument } from '../definition/model.ts';

/** A model in one version, whole, for the tasks that were created under it. */
@Entity('model_versions')
export class ModelVersion {
  @PrimaryColumn('text') id: string;
  @PrimaryColumn('text') version: string;
  @Column('json') document: ModelDocument;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}
