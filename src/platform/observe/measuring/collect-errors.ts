import { counter } from './declare.ts';

export const collectErrors = counter(
  'darkroom_collect_errors_total',
  'Values that could not be read for a scrape: facts of the database, or of the process.',
  ['what'],
);
for (const what of ['database', 'process']) collectErrors.inc({ what }, 0);
