import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

/** The records of a name, as text. If it is a function, each query calls it. */
export interface Zone {
  A?: string[] | (() => string[]);
  AAAA?: string[] | (() => string[]);
  CNAME?: string;
  /** Queries for this name get no response. */
  silent?: boolean;
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;
const NAME_ERROR = 3;

/** A DNS server on loopback (RFC 1035, over UDP). It answers from `zones` with TTL 0, else with NXDOMAIN. */
export class DnsServer {
  /** The received queries in order, as `A example.test`. */
  readonly questions: string[] = [];
  private readonly socket = createSocket('udp4');

  private constructor(private readonly zones: Record<string, Zone>) {
    this.socket.on('message', (question, from) => this.reply(question, from));
  }

  static async start(zones: Record<string, Zone>): Promise<DnsServer> {
    const server = new DnsServer(zones);
    server.socket.bind(0, '127.0.0.1');
    await once(server.socket, 'listening');
    return server;
  }

  /** The address in the form that `Resolver.setServers` takes. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async stop(): Promise<void> {
    await new Promise<void>((closed) => this.socket.close(closed));
  }

  private reply(question: Buffer, from: RemoteInfo): void {
    const { name, type, end } = readQuestion(question);
    const zone = this.zones[name];
    this.questions.push(`${type === TYPES.A ? 'A' : type === TYPES.AAAA ? 'AAAA' : type} ${name}`);
    if (zone?.silent) return;

    const answers = zone?.CNAME ? [record(TYPES.CNAME, writeName(zone.CNAME))] : [];
    if (type === TYPES.A) answers.push(...list(zone?.A).map((ip) => record(TYPES.A, ipv4Bytes(ip))));
    if (type === TYPES.AAAA) answers.push(...list(zone?.AAAA).map((ip) => record(TYPES.AAAA, ipv6Bytes(ip))));

    const head = Buffer.alloc(12);
    question.copy(head, 0, 0, 2); // the id
    head.writeUInt16BE(0x8180 | (zone ? 0 : NAME_ERROR), 2); // an answer, recursion desired and available
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    this.socket.send(Buffer.concat([head, question.subarray(12, end), ...answers]), from.port, from.address);
  }
}

function list(addresses: string[] | (() => string[]) | undefined): string[] {
  return typeof addresses === 'function' ? addresses() : (addresses ?? []);
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (message[at] !== 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + message[at]));
    at += 1 + message[at];
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** A record for the queried name, which is at offset 12 of the message. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4); // class IN; the TTL of 0 follows
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function ipv4Bytes(ip: string): Buffer {
  return Buffer.from(ip.split('.').map(Number));
}

/** The bytes of an IPv6 address. The URL parser first converts each form to groups of hexadecimal digits. */
function ipv6Bytes(ip: string): Buffer {
  const [before, after = ''] = new URL(`http://[${ip}]/`).hostname.slice(1, -1).split('::');
  const left = before.split(':').filter(Boolean);
  const right = after.split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
