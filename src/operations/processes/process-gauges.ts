import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DatabaseFacts } from '../../platform/database/database-facts.ts';
import { PROCESS_FACT } from './sql/process-facts.ts';

const PROCESSES = {
  name: 'darkroom_processes',
  help: 'Processes by their role and state. A late one counts as live, a drained one as draining.',
  labels: ['role', 'state'],
} as const;
const ROLES = ['all', 'api', 'worker'];
const SHOWN: Record<string, string> = {
  live: 'live',
  late: 'live',
  draining: 'draining',
  drained: 'draining',
  lost: 'lost',
};

/** Gauges of how many processes there are, by role and state. */
@Injectable()
export class ProcessGauges implements OnModuleInit {
  constructor(private readonly facts: DatabaseFacts) {}

  onModuleInit(): void {
    this.facts.gauges(PROCESSES, PROCESS_FACT, ({ counts }, set) => {
      for (const role of ROLES) {
        for (const state of new Set(Object.values(SHOWN))) {
          const those = counts?.filter((one) => one.role === role && SHOWN[one.state] === state) ?? [];
          set(
            { role, state },
            those.reduce((sum, { count }) => sum + count, 0),
          );
        }
      }
    });
  }
}
