import { Module } from '@nestjs/common';
import { Provenance } from './provenance.ts';

@Module({ providers: [Provenance], exports: [Provenance] })
export class ProvenanceModule {}
