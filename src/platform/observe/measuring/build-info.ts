import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.ts';
import { Metrics } from './metrics.ts';
import { VERSION } from '../../config/version.ts';

/** A metric with the version, the Node version and the role of this process. */
@Injectable()
export class BuildInfo implements OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const labels = { version: VERSION, node: process.versions.node, role: this.config.role };
    this.metrics.gauges('darkroom_build_info', 'Is 1; its labels say what runs.', ['version', 'node', 'role'], (set) =>
      set(labels, 1),
    );
  }
}
