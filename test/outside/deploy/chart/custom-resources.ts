import { Ajv, type ValidateFunction } from 'ajv';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { run } from './helm.ts';

/** Modules of Go whose sources hold the schemas of the kinds that the chart uses. */
const SOURCES = [
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    files: ['config/crd/bases/keda.sh_scaledobjects.yaml', 'config/crd/bases/keda.sh_triggerauthentications.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    files: ['servicemonitors', 'prometheusrules'].map(
      (kind) => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
    ),
  },
];

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  items?: Schema;
  pattern?: string;
  [keyword: string]: unknown;
}

interface CustomResource {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** The files that define the kinds. @throws Error when Go cannot get the modules */
export async function definitions(): Promise<string[]> {
  const texts: string[] = [];
  for (const { module, files } of SOURCES) {
    const { Dir } = JSON.parse(await run('go', 'mod', 'download', '-json', module)) as { Dir: string };
    for (const file of files) texts.push(readFileSync(join(Dir, file), 'utf8'));
  }
  return texts;
}

/** What each definition takes, by `apiVersion kind`. */
export function validators(texts: string[]): Map<string, ValidateFunction> {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const found = new Map<string, ValidateFunction>();
  for (const { spec } of texts.map((text) => load(text) as CustomResource)) {
    for (const { name, schema } of spec.versions) {
      found.set(`${spec.group}/${name} ${spec.names.kind}`, ajv.compile(strict(schema.openAPIV3Schema)));
    }
  }
  return found;
}

/** The API server drops fields that a schema does not name; a chart that sets one has a fault. */
function strict(schema: Schema): Schema {
  const { properties, items, pattern } = schema;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] || schema.additionalProperties !== undefined;
  if (properties) {
    schema.properties = Object.fromEntries(
      // Of `metadata` the schema of a custom resource says nothing.
      Object.entries(properties).map(([name, one]) => [name, name === 'metadata' ? one : strict(one)]),
    );
    if (!isOpen) schema.additionalProperties = false;
  }
  if (items) schema.items = strict(items);
  if (pattern?.includes('(?i)')) delete schema.pattern; // of Go; JavaScript has no such group
  return schema;
}
