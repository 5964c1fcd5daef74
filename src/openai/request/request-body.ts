import type { FastifyRequest } from 'fastify';
import { callerOf, type GuardedRequest } from '../../auth/access/access.ts';
import { fingerprintOf } from '../../calls/fingerprint.ts';
import { requireJsonObject } from '../../platform/http/strict-json.ts';
import { type Form, type FormFile, MultipartBody } from '../../platform/http/multipart/multipart-body.ts';
import { defineOwn } from '../../platform/schema/field-checks.ts';
import { invalid } from './fields.ts';
import { EDIT_BODY } from './request-schemas.ts';

/** The body of a request, whether it came as JSON or as a form. */
export interface RequestBody {
  isForm: boolean;
  fields: Record<string, unknown>;
  /** The files of a form, in order. */
  files: FormFile[];
  /** Identifies what the client sent to this path. */
  fingerprint: string;
  /** Deletes the files of a form. */
  dispose(): Promise<void>;
}

const TYPES: Readonly<Record<string, { type: string }>> = EDIT_BODY.schema.properties;
const NESTED = /^(\w+)\[(\w+)\]$/;

/** @param path the path of the route, for the fingerprint */
export async function readBody(request: FastifyRequest & GuardedRequest, path: string): Promise<RequestBody> {
  const { body } = request;
  if (!(body instanceof MultipartBody)) {
    const fields = requireJsonObject(body);
    return {
      isForm: false,
      fields: { ...fields },
      files: [],
      fingerprint: fingerprintOf(path, fields),
      dispose: async () => undefined,
    };
  }
  const form = await body.read({ owner: callerOf(request).apiKeyId });
  try {
    const fields = fieldsOf(form);
    const sent = [fields, form.files.map(({ field }) => field)];
    const hashes = form.files.map(({ sha256 }) => sha256);
    return {
      isForm: true,
      fields,
      files: form.files,
      fingerprint: fingerprintOf(path, sent, hashes),
      dispose: form.dispose,
    };
  } catch (error) {
    await form.dispose();
    throw error;
  }
}

/**
 * Converts text parts to the types of their fields, and `input_reference[image_url]` and `metadata[key]` to objects. An
 * empty part is left out, because forms have no null.
 */
function fieldsOf({ fields }: Form): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, text] of fields) {
    if (text === '') continue;
    const [, outer, inner] = NESTED.exec(name) ?? [];
    if (outer === undefined || inner === undefined) put(read, name, name, typed(name, text));
    else {
      const holder = Object.hasOwn(read, outer) ? read[outer] : put(read, outer, name, {});
      if (typeof holder !== 'object') throw twice(name);
      put(holder as Record<string, unknown>, inner, name, text);
    }
  }
  return read;
}

function typed(name: string, text: string): unknown {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name]!.type : 'string';
  if (type === 'integer' && /^-?[0-9]{1,9}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function put<Value>(holder: Record<string, unknown>, key: string, param: string, value: Value): Value {
  if (Object.hasOwn(holder, key)) throw twice(param);
  defineOwn(holder, key, value);
  return value;
}

const twice = (param: string) => invalid(param, 'invalid_type', `${param} may be given only once.`);
