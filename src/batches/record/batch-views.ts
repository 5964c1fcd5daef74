import { Injectable } from '@nestjs/common';
import { UsageTerms } from '../../tasks/record/usage-terms.ts';
import type { ShownBatch } from './batch.entity.ts';
import { type BatchView, toBatchView } from './batch.view.ts';

@Injectable()
export class BatchViews {
  constructor(private readonly terms: UsageTerms) {}

  of(batch: ShownBatch): BatchView {
    return toBatchView(batch, this.terms);
  }

  json(batch: ShownBatch): string {
    return JSON.stringify(this.of(batch));
  }
}
