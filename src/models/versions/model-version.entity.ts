import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ModelDocument } from '../definition/model.ts';

/** A model in one version, whole. It stays for as long as a task of it is there. */
@Entity('model_versions')
export class ModelVersion {
  @PrimaryColumn('text') id: string;
  @PrimaryColumn('text') version: string;
  @Column('json') document: ModelDocument;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}
