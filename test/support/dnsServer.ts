import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll } from '@jest/globals';

/** What a zone says of a name. */
export interface ZoneEntry {
  readonly TXT?: readonly string[];
  readonly CNAME?: string;
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
}

/** A DNS server on a free loopback port (RFC 1035), until the test file ends. */
export interface DnsServer {
  /** As `DNS_SERVERS` names it. */
  readonly address: string;
  /** What it knows, by name; it may be changed at any time. */
  readonly zone: Map<string, ZoneEntry>;
  /** How it takes questions; `answer` at first. */
  mood: 'answer' | 'silence' | 'failure';
  /** Types of records of which every question fails. */
  readonly failing: Set<RecordType>;
  /** The questions that came, as in `TXT _doorstep.a.example`. */
  readonly asked: string[];
}

const sockets: Socket[] = [];
afterAll(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

const types = { A: 1, CNAME: 5, TXT: 16, AAAA: 28 } as const;
type RecordType = keyof typeof types;

interface Answered {
  readonly name: string;
  readonly type: RecordType;
  readonly data: Buffer;
}

const nameBytes = (name: string): Buffer =>
  Buffer.concat([...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])), Buffer.from([0])]);

/** In parts of 255 bytes at most, as a record holds them. */
const textBytes = (text: string): Buffer => {
  const parts = text.match(/.{1,255}/gs) ?? [''];
  return Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])));
};

const addressBytes = (address: string): Buffer => {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const zeros = Array<string>(8 - groups(before).length - groups(after).length).fill('0');
  const all = address.includes('::') ? [...groups(before), ...zeros, ...groups(after)] : groups(address);
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
};

const questionIn = (message: Buffer): { name: string; type: number; bytes: Buffer } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), bytes: message.subarray(12, at + 5) };
};

const recordBytes = ({ name, type, data }: Answered): Buffer => {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(types[type], 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), head, data]);
};

const answersIn = (zone: ReadonlyMap<string, ZoneEntry>, name: string, type: RecordType): readonly Answered[] => {
  const entry = zone.get(name);
  if (entry === undefined) return [];
  if (entry.CNAME !== undefined) {
    const alias: Answered = { name, type: 'CNAME', data: nameBytes(entry.CNAME) };
    return type === 'CNAME' ? [alias] : [alias, ...answersIn(zone, entry.CNAME, type)];
  }
  if (type === 'CNAME') return [];
  const bytesOf = type === 'TXT' ? textBytes : addressBytes;
  return (entry[type] ?? []).map((value) => ({ name, type, data: bytesOf(value) }));
};

const noError = 0;
const serverFailure = 2;
const noSuchName = 3;

export const startDnsServer = async (): Promise<DnsServer> => {
  const socket = createSocket('udp4');
  const server: DnsServer = { address: '', zone: new Map(), mood: 'answer', failing: new Set(), asked: [] };

  const reply = (message: Buffer): Buffer => {
    const { name, type: number, bytes } = questionIn(message);
    const type = (Object.keys(types) as RecordType[]).find((one) => types[one] === number);
    server.asked.push(`${type ?? String(number)} ${name}`);
    const isFailing = server.mood === 'failure' || (type !== undefined && server.failing.has(type));
    const answers = type === undefined || isFailing ? [] : answersIn(server.zone, name, type);
    const code = isFailing ? serverFailure : server.zone.has(name) ? noError : noSuchName;
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8580 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    return Buffer.concat([head, bytes, ...answers.map(recordBytes)]);
  };

  socket.on('message', (message: Buffer, { port, address }: RemoteInfo) => {
    const answer = reply(message);
    if (server.mood !== 'silence') socket.send(answer, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  sockets.push(socket);
  return Object.assign(server, { address: `127.0.0.1:${String(socket.address().port)}` });
};
