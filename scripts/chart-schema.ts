import { readFileSync } from 'node:fs';
import type { SETTINGS } from '../src/platform/config/settings.ts';

const FILE = new URL('../deploy/helm/darkroom/values.schema.json', import.meta.url);

/** The chart sets these variables itself, by the role of a pod. */
const OF_THE_CHART = [
  'ROLE',
  'PORT',
  'HOST',
  'DATA_DIR',
  'MIGRATE',
  'PROVIDERS',
  'SHUTDOWN_DELAY_S',
  'SHUTDOWN_GRACE_S',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
];
/** Secret variables. They belong into a Secret, not into the ConfigMap that is made from `config`. */
const SECRET = /^(DATABASE_URL|DATABASE_DIRECT_URL)$|((?<!_PER)_KEY|_TOKEN|_HEADERS)$/;
/** Paths, although their names look like those of secrets. */
const PATHS = ['C2PA_KEY'];

interface Described {
  variable: string;
  schema: { description?: string | undefined };
}

interface ValuesSchema {
  properties: { config: { properties: Record<string, object> } };
}

/** The schema of the chart's values. `config` allows every setting that is not secret. */
export function chartSchema(settings: typeof SETTINGS, providerSettings: Record<string, Described>): string {
  const schema = JSON.parse(readFileSync(FILE, 'utf8')) as ValuesSchema;
  const all: Described[] = [...Object.values(settings), ...Object.values(providerSettings)];
  const taken = all.filter(({ variable }) => !OF_THE_CHART.includes(variable) && !isSecret(variable));
  schema.properties.config.properties = Object.fromEntries(
    taken.map(({ variable, schema: { description } }) => [
      variable,
      { description, type: ['string', 'number', 'boolean', 'null'] },
    ]),
  );
  return `${JSON.stringify(schema, null, 2)}\n`;
}

const isSecret = (variable: string): boolean => SECRET.test(variable) && !PATHS.includes(variable);
