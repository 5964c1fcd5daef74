import { openAsBlob } from 'node:fs';
import type { DeclaredBinding, DeclaredCall } from '../../models/definition/declared-binding.ts';
import { type InputImage, type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import { fillTemplate, type SlotValue, slotsOf } from '../templates/template.ts';
import { imagesOf } from '../wire/image-slots.ts';
import { MAX_BYTES_WITH_RESULT, type UpstreamCall, upstreamFetch, type UpstreamReply } from '../wire/upstream-fetch.ts';

const DEFAULT_AUTH = 'Authorization: Bearer {{key}}';
/**
 * Matches a character that no header may contain: a control character, which may end the line, or one outside ASCII,
 * which has several encodings.
 */
export const NOT_IN_HEADER = /[^\t\x20-\x7e]/;

/** Stands for an image file while a form is only checked. */
const FILE = 'file';

/** The declared binding of the provider `http`. It was checked when it was loaded. */
export const declaredOf = ({ upstream }: ProviderRequest): DeclaredBinding => upstream.declared!;

/** A call whose slots are all filled. */
export type FilledCall = Pick<UpstreamCall, 'method' | 'headers' | 'json' | 'form'> & { path: string };

/**
 * Puts values into a call. In a path each value is one segment, whatever it contains. In a header no value can end the
 * line.
 * @throws UnsupportedRequest
 */
export async function fillCall(request: ProviderRequest, call: DeclaredCall, valueOf: SlotValue): Promise<FilledCall> {
  return {
    path: pathOf(call, valueOf),
    ...(call.method && { method: call.method }),
    headers: { ...headersOf(call, valueOf), ...authOf(request) },
    ...(call.json && { json: fillTemplate(call.json, valueOf) ?? {} }),
    ...(call.form && { form: await formOf(request, call.form, valueOf) }),
  };
}

/** Throws if `fillCall` would refuse a value. Reads no images. @throws UnsupportedRequest */
export function assertFillable(call: DeclaredCall, valueOf: SlotValue): void {
  pathOf(call, valueOf);
  headersOf(call, valueOf);
  fillTemplate(call.json, valueOf);
  fillTemplate(call.form, (slot) => (slot.isWhole && slot.form === 'file' ? FILE : valueOf(slot)));
}

function pathOf({ path }: DeclaredCall, valueOf: SlotValue): string {
  return withoutEmptySlot(fillTemplate(path, (slot) => segment(slot.name, valueOf(slot))) as string);
}

function headersOf({ headers = {} }: DeclaredCall, valueOf: SlotValue): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) => {
      const value = fillTemplate(text, (slot) => headerText(slot.name, valueOf(slot)));
      return value === undefined ? [] : [[name, String(value)]];
    }),
  );
}

/** The answer may be large, because any answer about a job may contain its pictures in base64. */
export function sendCall(
  { upstream }: ProviderRequest,
  { path, ...call }: FilledCall,
  more: Pick<UpstreamCall, 'signal' | 'timeoutMs'>,
): Promise<UpstreamReply> {
  return upstreamFetch(`${upstream.baseUrl}${path}`, { ...call, ...more, maxBytes: MAX_BYTES_WITH_RESULT });
}

const withoutEmptySlot = (path: string | undefined): string => path ?? '/';

function segment(name: string, value: unknown): string {
  const text = String(value ?? '');
  // A URL parser reads `.` and `..` as steps, even if they are percent-encoded.
  if (/^\.{1,2}$/.test(text) || text.includes('\0')) throw new UnsupportedRequest(name, 'No path can hold this value.');
  return encodeURIComponent(text);
}

function headerText(name: string, value: unknown): unknown {
  if (value === undefined || !NOT_IN_HEADER.test(String(value))) return value;
  throw new UnsupportedRequest(name, 'No header can hold this value.');
}

/** The header with the credential. Without a credential there is none. */
function authOf(request: ProviderRequest): Record<string, string> {
  const { apiKey } = request.upstream;
  if (apiKey === null) return {};
  const [, name = '', text = ''] = /^([^:]*):\s*(.*)$/.exec(declaredOf(request).auth ?? DEFAULT_AUTH) ?? [];
  return { [name]: text.replaceAll('{{key}}', () => apiKey) };
}

/** A multipart form. A field whose whole text is a slot such as `{{mask:file}}` becomes a file. */
async function formOf(request: ProviderRequest, template: object, valueOf: SlotValue): Promise<FormData> {
  const form = new FormData();
  for (const [field, text] of Object.entries(template)) {
    const [slot] = typeof text === 'string' ? slotsOf(text) : [];
    if (slot?.isWhole && slot.form === 'file') {
      for (const image of imagesOf(request, slot.name) ?? []) form.append(field, await fileOf(image), nameOf(image));
      continue;
    }
    const value = fillTemplate(text, valueOf);
    if (value !== undefined) form.append(field, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return form;
}

const fileOf = ({ path, contentType }: InputImage) => openAsBlob(path, { type: contentType });
const nameOf = ({ contentType }: InputImage) => `image.${contentType.slice('image/'.length).replace('jpeg', 'jpg')}`;
