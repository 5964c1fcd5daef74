import { Unmarkable } from './unmarkable.ts';

/** What the XMP packet of an output says about it. docs/guides/provenance.md documents the properties. */
export interface MadeBy {
  /** The id of the model in this service. */
  model: string;
  taskId: string;
}

/** IPTC's term for media that a trained model made. */
export const TRAINED_ALGORITHMIC_MEDIA = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';
/** Matches `TRAINED_ALGORITHMIC_MEDIA`, and the term for a composition with such media. */
const SAYS_MODEL_MADE = /\/digitalsourcetype\/(?:trainedAlgorithmicMedia|compositeWithTrainedAlgorithmicMedia)$/;

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const IPTC = 'http://iptc.org/std/Iptc4xmpExt/2008-02-29/';
const DARKROOM = 'urn:darkroom:provenance/1.0/';
const DC_TERMS = 'http://purl.org/dc/terms/';

/**
 * The largest packet that is changed, because every property is searched for in the whole text. No larger packet was
 * seen.
 */
export const MAX_PACKET_BYTES = 256 * 1024;
/** The most prefixes of one namespace: writers bind one or two. Each prefix costs a pass over the text. */
const MAX_PREFIXES = 4;

/** The packet for a file without XMP. It depends on nothing but the model and the task. */
export function newPacket(madeBy: MadeBy): Buffer {
  return Buffer.from(
    `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="${RDF}">
${description('rdf', '', { ...madeBy, withSourceType: true })} </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>`,
  );
}

/**
 * Adds the mark to the packet of a file and keeps its other properties. A source type that already says that a model
 * made the file stays. Another source type is removed, because it came from an image that the model was given.
 * @throws Unmarkable
 */
export function extendPacket(existing: Buffer, madeBy: MadeBy): Buffer {
  const text = decode(existing);
  const [rdf] = prefixesOf(text, RDF);
  if (rdf === undefined) throw new Unmarkable('xmp_unreadable', 'the XMP packet holds no RDF');
  for (const prefix of prefixesOf(text, DC_TERMS)) {
    // The value is the address of a C2PA manifest that is kept elsewhere and binds these bytes.
    if (valuesOf(text, prefix, 'provenance').length > 0) throw new Unmarkable('signed', 'a C2PA manifest elsewhere');
  }

  const iptc = prefixesOf(text, IPTC);
  const sourceTypes = iptc.flatMap((prefix) => valuesOf(text, prefix, 'DigitalSourceType'));
  const withSourceType = !sourceTypes.some((value) => SAYS_MODEL_MADE.test(value));
  let kept = text;
  if (withSourceType) for (const prefix of iptc) kept = without(kept, prefix, 'DigitalSourceType');
  for (const prefix of prefixesOf(text, DARKROOM)) kept = without(without(kept, prefix, 'Model'), prefix, 'TaskId');
  return insert(withoutEmptyDescriptions(kept, rdf), rdf, { ...madeBy, withSourceType });
}

/** Shortens long white space. Writers reserve it so that an editor can change the packet in place. */
export function withoutPadding(packet: Buffer): Buffer {
  return Buffer.from(packet.toString().replace(/\s{64,}/g, '\n'));
}

function decode(bytes: Buffer): string {
  if (bytes.length > MAX_PACKET_BYTES) throw new Unmarkable('xmp_unreadable', 'the XMP packet is too large');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unmarkable('xmp_unreadable', 'the XMP packet is not UTF-8');
  }
}

type Said = MadeBy & { withSourceType: boolean };

function insert(text: string, rdf: string, said: Said): Buffer {
  const about = new RegExp(`\\s${rdf}:about\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`).exec(text);
  // All descriptions of a packet are about the same thing. The value of `about` stays as it is written, escapes
  // included.
  const block = description(rdf, (about?.[1] ?? about?.[2] ?? '').replaceAll('"', '&quot;'), said);
  const empty = new RegExp(`<${rdf}:RDF\\b([^<>]*)/>`).exec(text);
  if (empty) {
    const { index, 0: all, 1: attributes } = empty;
    const full = `<${rdf}:RDF${attributes}>\n${block}</${rdf}:RDF>`;
    return Buffer.from(text.slice(0, index) + full + text.slice(index + all.length));
  }
  const end = text.lastIndexOf(`</${rdf}:RDF`);
  if (end === -1) throw new Unmarkable('xmp_unreadable', 'the RDF of the XMP packet does not end');
  return Buffer.from(text.slice(0, end) + block + text.slice(end));
}

function description(rdf: string, about: string, { model, taskId, withSourceType }: Said): string {
  const sourceType = `   <Iptc4xmpExt:DigitalSourceType>${TRAINED_ALGORITHMIC_MEDIA}</Iptc4xmpExt:DigitalSourceType>\n`;
  return `  <${rdf}:Description ${rdf}:about="${about}" xmlns:Iptc4xmpExt="${IPTC}" xmlns:darkroom="${DARKROOM}">
${withSourceType ? sourceType : ''}   <darkroom:Model>${escape(model)}</darkroom:Model>
   <darkroom:TaskId>${escape(taskId)}</darkroom:TaskId>
  </${rdf}:Description>
`;
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The prefixes that the packet binds to a namespace, usually one. */
function prefixesOf(text: string, namespace: string): string[] {
  const bindings = text.matchAll(/xmlns:([\w-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g);
  const prefixes = new Set([...bindings].filter(([, , a, b]) => (a ?? b) === namespace).map(([, prefix]) => prefix!));
  if (prefixes.size > MAX_PREFIXES) throw new Unmarkable('xmp_unreadable', `${prefixes.size} prefixes of a namespace`);
  return [...prefixes];
}

// A simple property is an attribute of its description, or an element. No repetition in a pattern matches a `<`, so the
// time of each pattern is linear in the length of the text.
const attribute = (prefix: string, name: string): RegExp =>
  new RegExp(`\\s${prefix}:${name}\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, 'g');
const element = (prefix: string, name: string): RegExp =>
  new RegExp(`<${prefix}:${name}\\b([^<>]*)(?:/>|>([^<]*)</${prefix}:${name}\\s*>)`, 'g');

function valuesOf(text: string, prefix: string, name: string): string[] {
  const attributes = [...text.matchAll(attribute(prefix, name))].map(([, a, b]) => a ?? b ?? '');
  const elements = [...text.matchAll(element(prefix, name))].map(([, inside = '', content = '']) => {
    const [, a, b] = /:resource\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/.exec(inside) ?? [];
    return a ?? b ?? content;
  });
  return [...attributes, ...elements].map((value) => value.trim());
}

function without(text: string, prefix: string, name: string): string {
  return text.replace(attribute(prefix, name), '').replace(element(prefix, name), '');
}

function withoutEmptyDescriptions(text: string, rdf: string): string {
  const attributes = `(?:\\s(?:${rdf}:about|xmlns:[\\w-]+)=(?:"[^"<]*"|'[^'<]*'))*`;
  return text.replace(new RegExp(`<${rdf}:Description${attributes}>\\s*</${rdf}:Description>`, 'g'), '');
}
