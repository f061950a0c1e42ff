import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { BSON, ObjectId } from 'mongodb';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * A received command: its name, the value of the name's field (often a collection), and all fields.
 */
export interface Command {
  readonly name: string;
  readonly target: unknown;
  readonly fields: Fields;
}

/** Returns the answer to a command, or `undefined` for the ordinary answer. */
export type Script = (command: Command) => Fields | 'hang up' | undefined;

/** A server whose answers a test can script, over MongoDB's wire protocol (OP_MSG). */
export interface ScriptedMongo {
  /** `host:port` */
  readonly address: string;
  /** Every command since the start, without handshakes. */
  readonly commands: readonly Command[];
  /** Scripts the answers from now on. */
  script(answer: Script): void;
  close(): Promise<void>;
}

type Kind = 'standalone' | 'replica set' | 'sharded cluster';

const greetings: Readonly<Record<Kind, (address: string) => Fields>> = {
  standalone: () => ({}),
  'replica set': (address) => ({
    setName: 'rs',
    setVersion: 1,
    electionId: new ObjectId('7fffffff0000000000000001'),
    hosts: [address],
    primary: address,
    me: address,
  }),
  'sharded cluster': () => ({ msg: 'isdbgrid' }),
};

/**
 * Unscripted, it stores replaced documents in memory and finds them again, as far as the read-model
 * store needs it.
 * @param wideCounts whether counts are 64-bit integers, which the protocol allows
 */
export const createScriptedMongo = async (kind: Kind, { wideCounts = false } = {}): Promise<ScriptedMongo> => {
  const collections = new Map<unknown, Map<unknown, Fields>>();
  const commands: Command[] = [];
  const sockets = new Set<Socket>();
  let script: Script = () => undefined;

  const documentsOf = (collection: unknown): Map<unknown, Fields> => {
    const known = collections.get(collection) ?? new Map<unknown, Fields>();
    collections.set(collection, known);
    return known;
  };
  const found = (collection: unknown, filter: unknown): readonly Fields[] =>
    [...(collections.get(collection)?.values() ?? [])].filter((document) => matches(document, filter as Fields));
  const counted = (count: number): number | bigint => (wideCounts ? BigInt(count) : count);
  const cursor = (target: unknown, firstBatch: readonly unknown[]): Fields => ({
    ok: 1,
    cursor: { id: 0n, ns: `doorstep.${String(target)}`, firstBatch },
  });

  const update = (target: unknown, updates: readonly Fields[]): Fields => {
    const upserted: Fields[] = [];
    const writeErrors: Fields[] = [];
    let n = 0;
    for (const [index, { q, u, upsert }] of updates.entries()) {
      const _id = (q as Fields)['_id'];
      const isThere = documentsOf(target).has(_id);
      const isMatch = found(target, q).length > 0;
      if (isMatch || (upsert === true && !isThere)) {
        n += 1;
        documentsOf(target).set(_id, { ...(u as Fields), _id });
        if (!isMatch) upserted.push({ index, _id });
      } else if (upsert === true) writeErrors.push(duplicateError(index));
    }
    return {
      ok: 1,
      n: counted(n),
      nModified: counted(n - upserted.length),
      ...(upserted.length > 0 && { upserted }),
      ...(writeErrors.length > 0 && { writeErrors }),
    };
  };

  const ordinaryAnswer = ({ name, target, fields }: Command): Fields => {
    switch (name) {
      case 'find': {
        const direction = (fields['sort'] as Fields | undefined)?.['_id'] === -1 ? -1 : 1;
        const limit = Number(fields['limit'] ?? 0);
        const all = found(target, fields['filter']).toSorted((one, other) =>
          String(one['_id']) < String(other['_id']) ? -direction : direction,
        );
        return cursor(target, limit > 0 ? all.slice(0, limit) : all);
      }
      case 'update':
        return update(target, fields['updates'] as readonly Fields[]);
      case 'delete': {
        const gone = (fields['deletes'] as readonly Fields[]).flatMap(({ q }) => found(target, q));
        for (const { _id } of gone) documentsOf(target).delete(_id);
        return { ok: 1, n: counted(gone.length) };
      }
      case 'listCollections':
        return cursor(
          '$cmd.listCollections',
          [...collections.keys()].map((collection) => ({ name: collection, type: 'collection' })),
        );
      case 'drop':
        return collections.delete(target)
          ? { ok: 1 }
          : { ok: 0, code: 26, codeName: 'NamespaceNotFound', errmsg: 'ns not found' };
      case 'createIndexes':
        documentsOf(target);
        return { ok: 1 };
      default:
        return { ok: 1 };
    }
  };

  const answer = (document: Fields): Fields | 'hang up' => {
    const [name = '', target] = Object.entries(document)[0] ?? [];
    const command: Command = { name, target, fields: document };
    const scripted = script(command);
    if (/^(hello|ismaster)$/i.test(name)) return { ...greeting(kind, address), ...(scripted !== 'hang up' && scripted) };
    commands.push(command);
    return scripted ?? ordinaryAnswer(command);
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let pending = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      pending = Buffer.concat([pending, bytes]);
      while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
        const message = pending.subarray(0, pending.readInt32LE(0));
        pending = pending.subarray(message.length);
        const reply = answer(commandIn(message));
        if (reply === 'hang up') socket.destroy();
        else socket.write(replyTo(message, reply));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  const address = `127.0.0.1:${String(bound.port)}`;

  return {
    address,
    commands,
    script: (next) => {
      script = next;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

/** A server's error for a write whose `_id` exists already. */
export const duplicateError = (index: number): Fields => ({
  index,
  code: 11000,
  keyPattern: { _id: 1 },
  keyValue: { _id: 'x' },
  errmsg: 'E11000 duplicate key error collection: doorstep.x index: _id_ dup key: { _id: "x" }',
});

const greeting = (kind: Kind, address: string): Fields => ({
  ok: 1,
  helloOk: true,
  ismaster: true,
  isWritablePrimary: true,
  maxBsonObjectSize: 16 * 1024 ** 2,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  logicalSessionTimeoutMinutes: 30,
  minWireVersion: 0,
  maxWireVersion: 21,
  ...greetings[kind](address),
});

/** The number, or NaN, which makes every comparison with another type false. */
const numberOf = (value: unknown): number => (typeof value === 'number' || typeof value === 'bigint' ? Number(value) : NaN);

const conditions: Readonly<Record<string, (value: unknown, wanted: unknown) => boolean>> = {
  $lt: (value, wanted) => numberOf(value) < numberOf(wanted),
  $lte: (value, wanted) => numberOf(value) <= numberOf(wanted),
  $in: (value, wanted) => (wanted as readonly unknown[]).includes(value),
  $exists: (value, wanted) => (value !== undefined) === wanted,
};

const matches = (document: Fields, filter: Fields): boolean =>
  Object.entries(filter).every(([field, wanted]) => {
    if (field === '$and') return (wanted as readonly Fields[]).every((part) => matches(document, part));
    const value = document[field];
    if (typeof wanted !== 'object' || wanted === null) return value === wanted;
    return Object.entries(wanted).every(([operator, operand]) => conditions[operator]?.(value, operand) === true);
  });

const opQuery = 2004;
const headerBytes = 16;
const documentAt = (message: Buffer, at: number): Fields =>
  BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)), { useBigInt64: true });

const commandIn = (message: Buffer): Fields => {
  // Handshakes come as OP_QUERY: flags, a name and two numbers precede the document.
  if (message.readInt32LE(12) === opQuery) return documentAt(message, message.indexOf(0, headerBytes + 4) + 1 + 8);
  let command: Fields = {};
  for (let at = headerBytes + 4; at < message.length;) {
    const isSequence = message[at] === 1;
    const end = at + 1 + message.readInt32LE(at + 1);
    if (isSequence) {
      const nameEnd = message.indexOf(0, at + 5);
      const documents: Fields[] = [];
      for (let next = nameEnd + 1; next < end; next += message.readInt32LE(next)) documents.push(documentAt(message, next));
      command = { ...command, [message.toString('utf8', at + 5, nameEnd)]: documents };
    } else command = { ...documentAt(message, at + 1), ...command };
    at = end;
  }
  return command;
};

const replyTo = (message: Buffer, reply: Fields): Buffer => {
  const body = BSON.serialize(reply);
  const isOld = message.readInt32LE(12) === opQuery;
  // OP_REPLY: flags, cursor, start, one document. OP_MSG: flags, one section that is a document.
  const between = Buffer.alloc(isOld ? 20 : 5);
  if (isOld) between.writeInt32LE(1, 16);
  const header = Buffer.alloc(headerBytes);
  header.writeInt32LE(headerBytes + between.length + body.length, 0);
  header.writeInt32LE(message.readInt32LE(4), 8);
  header.writeInt32LE(isOld ? 1 : 2013, 12);
  return Buffer.concat([header, between, body]);
};
