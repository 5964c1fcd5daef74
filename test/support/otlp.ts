/** A span as a collector receives it. */
export interface ExportedSpan {
  name: string;
  kind: 'internal' | 'server' | 'client' | 'consumer';
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentId: string;
  /** Unix milliseconds. */
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
  /** Each link is `<trace id> <span id>`. */
  links: string[];
  isError: boolean;
  statusMessage: string;
  resource: Record<string, unknown>;
}

type Value = bigint | Buffer;
type Message = Map<number, Value[]>;

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'];

/**
 * Decodes the protobuf of an `ExportTraceServiceRequest`. The numbers of the fields are those of
 * opentelemetry/proto/trace/v1/trace.proto.
 */
export function decodeSpans(request: Buffer): ExportedSpan[] {
  return messages(read(request), 1).flatMap((ofResource) => {
    const [resource] = messages(ofResource, 1);
    const shared = resource ? attributes(resource, 1) : {};
    const scopes = messages(ofResource, 2);
    return scopes.flatMap((scope) => messages(scope, 2).map((span) => toSpan(span, shared)));
  });
}

function toSpan(span: Message, resource: Record<string, unknown>): ExportedSpan {
  const [status] = messages(span, 15);
  return {
    name: text(span, 5),
    kind: KINDS[number(span, 6)] as ExportedSpan['kind'],
    traceId: bytes(span, 1).toString('hex'),
    spanId: bytes(span, 2).toString('hex'),
    parentId: bytes(span, 4).toString('hex'),
    startMs: number(span, 7) / 1e6,
    endMs: number(span, 8) / 1e6,
    attributes: attributes(span, 9),
    events: messages(span, 11).map((event) => ({ name: text(event, 2), attributes: attributes(event, 3) })),
    links: messages(span, 13).map((link) => `${bytes(link, 1).toString('hex')} ${bytes(link, 2).toString('hex')}`),
    isError: status !== undefined && number(status, 3) === 2,
    statusMessage: status ? text(status, 2) : '',
    resource,
  };
}

/** The values of each field: varints and fixed numbers as bigint, everything else as bytes. */
function read(buffer: Buffer): Message {
  const fields: Message = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => buffer.subarray(at, (at += length));
  while (at < buffer.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    const value =
      wire === 0
        ? varint()
        : wire === 1
          ? take(8).readBigUInt64LE()
          : wire === 2
            ? take(Number(varint()))
            : wire === 5
              ? BigInt(take(4).readUInt32LE())
              : null;
    if (value === null) throw new Error(`Unknown wire type ${wire}`);
    const field = tag >> 3;
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

const messages = (message: Message, field: number): Message[] =>
  (message.get(field) ?? []).map((value) => read(value as Buffer));
const bytes = (message: Message, field: number): Buffer => (message.get(field)?.[0] as Buffer) ?? Buffer.alloc(0);
const text = (message: Message, field: number): string => bytes(message, field).toString('utf8');
const number = (message: Message, field: number): number => Number((message.get(field)?.[0] as bigint) ?? 0n);

function attributes(message: Message, field: number): Record<string, unknown> {
  return Object.fromEntries(messages(message, field).map((pair) => [text(pair, 1), valueOf(messages(pair, 2)[0])]));
}

/** The value of an `AnyValue`: text, boolean, integer or number. */
function valueOf(value: Message | undefined): unknown {
  if (value?.has(1)) return text(value, 1);
  if (value?.has(2)) return number(value, 2) === 1;
  if (value?.has(3)) return number(value, 3);
  if (value?.has(4)) {
    const double = Buffer.alloc(8);
    double.writeBigUInt64LE(value.get(4)![0] as bigint);
    return double.readDoubleLE();
  }
  return null;
}
