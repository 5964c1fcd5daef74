import { SETTINGS } from '../../platform/config/settings.ts';
import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import { looksLikeKey, shown } from '../../models/declaration/fault.ts';
import { NOT_IN_HEADER } from '../http/http-call.ts';
import type { BindingAt } from './binding-at.ts';
import { isKnownFamily, takenBy } from './takes.ts';

type Field = keyof DeclaredBinding;

/** Fields that only some providers have. */
const ONLY_FOR: readonly [Field, readonly string[]][] = [
  ['dialect', ['openai']],
  ['base_urls', ['openai', 'comfyui', 'http']],
  ['workflow', ['comfyui']],
  ['send', ['openai', 'fal', 'replicate']],
  ['mask', ['fal', 'replicate', 'comfyui', 'http']],
  ...(
    ['timeout_s', 'result_hosts', 'auth', 'submit', 'poll', 'cancel', 'lookup', 'outputs', 'error', 'errors'] as const
  ).map((field): [Field, readonly string[]] => [field, ['http']]),
];

/**
 * Variables that `credential` may not name: those of the service itself, of its database and of its bucket. Some of
 * them are secrets that no provider may receive.
 */
const OWN = new Set(Object.values(SETTINGS).map(({ variable }) => variable));
const isForbidden = (name: string): boolean => OWN.has(name.replace(/_FILE$/, '')) || /^(AWS_|PG)/.test(name);

/** Checks that a binding has the fields that its provider needs, and no field that its provider does not know. */
export function checkFields(where: BindingAt): void {
  const { file, model, binding, at } = where;
  const { provider } = binding;
  const path = (...steps: (string | number)[]) => ['bindings', at, ...steps];
  for (const [field, providers] of ONLY_FOR) {
    if (binding[field] === undefined || providers.includes(provider)) continue;
    const named = providers.length === 1 ? `provider ${providers[0]}` : `the providers ${providers.join(', ')}`;
    file.fault(path(field), `${field} is only for ${named}`, 'key');
  }
  if (binding.base_url !== undefined && binding.base_urls !== undefined) {
    file.fault(path('base_urls'), 'base_url and base_urls exclude each other', 'key');
  }
  const field = binding.dialect === undefined ? 'provider' : 'dialect';
  const isTold = (provider === 'fal' || provider === 'replicate') && !isKnownFamily(binding.model ?? '');
  if (!isTold && takenBy(binding, model.kind) === null) {
    file.fault(path(field), `${binding.dialect ?? provider} makes no ${model.kind}s`);
  }
  checkModel(where);
  checkCredential(where);
  if (provider === 'http') checkHttp(where);
}

function checkModel({ file, binding, at }: BindingAt): void {
  const { provider, model, workflow, send } = binding;
  const path = (field: string) => ['bindings', at, field];
  if (model !== undefined && workflow !== undefined) {
    file.fault(path('workflow'), 'model and workflow exclude each other', 'key');
  } else if (model === undefined && workflow === undefined && !['sandbox', 'http'].includes(provider)) {
    file.fault(path('model'), 'model is missing');
  }
  if ((provider === 'fal' || provider === 'replicate') && !send && model !== undefined && !isKnownFamily(model)) {
    file.fault(path('model'), `provider ${provider} has no translation of its own for ${shown(model)}; give send`);
  }
}

function checkCredential({ file, binding, at }: BindingAt): void {
  const { credential } = binding;
  if (typeof credential === 'string' && isForbidden(credential)) {
    file.fault(['bindings', at, 'credential'], `credential may not name ${credential}`);
  }
}

function checkHttp({ file, binding, at }: BindingAt): void {
  const path = (...steps: string[]) => ['bindings', at, ...steps];
  const { base_url, base_urls, submit, poll, outputs, auth, cancel, lookup, result_hosts: _hosts } = binding;
  if (base_url === undefined && base_urls === undefined) file.fault(path('base_url'), 'base_url is missing');
  if (!submit) file.fault(path('submit'), 'submit is missing');
  if (outputs === undefined) file.fault(path('outputs'), 'outputs is missing');
  if (submit?.json && submit.form) file.fault(path('submit', 'form'), 'json and form exclude each other', 'key');
  if (poll && (poll.status === undefined || !poll.done)) file.fault(path('poll'), 'poll needs status and done');
  if (poll && submit && submit.id === undefined) file.fault(path('submit', 'id'), 'id is missing: poll needs it');
  if (!poll && submit?.id !== undefined) file.fault(path('poll'), 'poll is missing: submit has an id');
  if (lookup && lookup.id === undefined) file.fault(path('lookup', 'id'), 'id is missing');
  if (cancel && !poll) file.fault(path('cancel'), 'cancel needs poll', 'key');
  if (auth !== undefined) checkAuth({ file, at, auth });
  for (const name of ['submit', 'poll', 'cancel', 'lookup'] as const) {
    for (const [header, text] of Object.entries(binding[name]?.headers ?? {})) {
      const at = path(name, 'headers', header);
      const fault = headerFault(header);
      if (fault) file.fault(at, fault, 'key');
      else if (isSecret(text)) file.fault(at, 'looks like a key; name an environment variable in credential');
      else if (NOT_IN_HEADER.test(text)) file.fault(at, 'a header holds printable ASCII in one line');
    }
  }
}

function checkAuth({ file, at, auth }: Pick<BindingAt, 'file' | 'at'> & { auth: string }): void {
  const path = ['bindings', at, 'auth'];
  const [, name = '', value = ''] = /^([^:]*):\s*(.*)$/.exec(auth) ?? [];
  if (!/^[A-Za-z0-9-]{1,60}$/.test(name)) file.fault(path, 'auth must be a header such as "X-Api-Key: {{key}}"');
  else if (isSecret(value.replaceAll('{{key}}', ''))) {
    file.fault(path, 'looks like a key; name an environment variable in credential');
  } else if (!value.includes('{{key}}')) file.fault(path, 'auth needs {{key}}');
}

/** Headers that a binding may not set. They decide where a call goes, how it is framed or who sends it. */
const RESERVED = /^(host|authorization|cookie|content-.*|transfer-encoding|connection|x-forwarded-.*)$/i;

function headerFault(name: string): string | null {
  if (!/^[A-Za-z0-9-]{1,60}$/.test(name)) return `${shown(name)} is no name of a header`;
  return RESERVED.test(name) ? `${name} may not be set` : null;
}

/** Whether a text contains the beginning of a vendor's keys, or 32 characters in a row that may be hex or base64. */
const isSecret = (text: string): boolean => looksLikeKey(text) || /[A-Za-z0-9+/_-]{32}/.test(text);
