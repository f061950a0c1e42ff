import { LRUCache } from 'lru-cache';
import { Type, type Static } from 'typebox';
import type { Engine } from '../../../engine.js';
import { createActorNames } from '../../../events/actorNames.js';
import type { ChangeFeed, FeedChange } from '../../../events/changeFeed.js';
import type { Recorded } from '../../../events/envelope.js';
import type { Reader } from '../../../projections/reader.js';
import { Actor } from '../../actors.js';
import type { Caller } from '../../auth/caller.js';
import { route, type Route, type RouteRequest, type RouteTag, type ServerSentEvent } from '../../route.js';
import { areaOf, changeAreas, changeTypes } from './change.areas.js';
import { createMaySee } from './change.visibility.js';

const changeTag: RouteTag = { name: 'Changes', description: 'What changes, as it happens.' };

const Change = Type.Object(
  {
    type: Type.String({ description: 'What happened.', examples: ['DeliveryReplaced'] }),
    websiteId: Type.Optional(Type.String({ description: 'The website that it is about; absent when it is about none.' })),
    clientId: Type.Optional(Type.String({ description: 'For admins: the client that it is about.' })),
    revision: Type.Integer({ description: 'Of what changed, once it had changed.', examples: [4] }),
    at: Type.String({ format: 'date-time' }),
    actor: Type.Optional(Actor),
  },
  {
    $id: 'Change',
    description: 'Something that changed: what to read again, and not what is there now. Admins are told who did it.',
  },
);

const areaNames = [...new Set(changeAreas.map(({ name }) => name))];

/** One event: before OpenAPI 3.2 the schema of a stream describes each. */
const ChangeEvent = Type.Object(
  {
    event: Type.Enum(['ready', ...areaNames, 'reset'], {
      description: 'What changed. `ready`: from here on nothing is missed. `reset`: some were missed, so read everything again.',
    }),
    id: Type.String({ description: 'The place in the log, for `Last-Event-ID`.', examples: ['5f0c3a91-1042'] }),
    data: Type.String({
      contentMediaType: 'application/json',
      contentSchema: Type.Union([Change, Type.Object({}, { additionalProperties: false })]),
      description: 'The change, as JSON; of `ready` and `reset` an empty object.',
      examples: [
        '{"type":"DeliveryReplaced","websiteId":"01m8209kq7nsjmd7c7ae53aqtg","revision":4,"at":"2030-01-31T12:00:00.000Z"}',
      ],
    }),
  },
  { $id: 'ChangeEvent', description: 'One server-sent event.' },
);

const stream = {
  200: {
    description: 'Server-sent events: `ready` at once, then one for each change (`Change`), until the access ends.',
    contentType: 'text/event-stream',
    schema: ChangeEvent,
  },
};

const resuming =
  '`Last-Event-ID` goes on where a connection broke, with what was missed meanwhile. An id of another log, or too far back, is answered with `reset`: read everything again.';

export interface ChangeRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly changeFeed: ChangeFeed;
}

/** Less than somebody would notice who is named in it, and then erased. */
const sharedForMs = 1_000;

/** What changes, as server-sent events. */
export const changeRoutes = ({ engine, reader, changeFeed }: ChangeRouteParts): readonly Route[] => {
  const maySee = createMaySee(reader);

  const toData = async (event: Recorded, { role }: Caller): Promise<Static<typeof Change>> => {
    const { websiteId, clientId } = event.data as Readonly<Record<string, unknown>>;
    return {
      type: event.type,
      ...(typeof websiteId === 'string' && { websiteId }),
      ...(typeof clientId === 'string' && role === 'admin' && { clientId }),
      revision: Number(event.revision),
      at: event.metadata.at,
      // Named anew each time, because a reader may stay longer than somebody's name.
      ...(role === 'admin' && { actor: await createActorNames(engine, { readerRole: role }).toActor(event.metadata.actor) }),
    };
  };

  /** Those who see all of it are sent the same: an event is made once for them. */
  const forAdmins = new LRUCache<string, Promise<ServerSentEvent>>({ max: 1_000, ttl: sharedForMs });

  const toEvent = ({ event, place }: FeedChange, caller: Caller): Promise<ServerSentEvent> => {
    const make = async (): Promise<ServerSentEvent> => {
      const { name = '' } = areaOf(event.type) ?? {};
      return { event: name, id: place, data: await toData(event, caller) };
    };
    if (caller.role !== 'admin') return make();
    const made = forAdmins.get(place) ?? make();
    forAdmins.set(place, made);
    made.catch(() => forAdmins.delete(place));
    return made;
  };

  async function* follow(
    { caller, website, signal }: Pick<RouteRequest, 'caller' | 'signal'> & { readonly website?: RouteRequest['website'] },
    after: string | undefined,
  ): AsyncGenerator<readonly ServerSentEvent[]> {
    for await (const items of changeFeed.follow({ types: changeTypes, websiteId: website?.website.id, after, signal })) {
      const events: ServerSentEvent[] = [];
      for (const item of items) {
        if (item.kind !== 'change') events.push({ event: item.kind, id: item.place, data: {} });
        else if (await maySee(item.event, caller, website)) events.push(await toEvent(item, caller));
      }
      if (events.length > 0) yield events;
    }
  }

  return [
    route({
      method: 'get',
      path: '/events',
      operationId: 'followChanges',
      summary: 'Follow what changes anywhere',
      description: `Tells what changed, and not what is there now: read that again. ${resuming}`,
      tag: changeTag,
      scope: 'installation',
      access: 'admin',
      answers: stream,
      answer: ({ caller, signal, header }) => Promise.resolve({ events: follow({ caller, signal }, header('last-event-id')) }),
    }),

    route({
      method: 'get',
      path: '/websites/:id/events',
      operationId: 'followWebsiteChanges',
      summary: 'Follow what changes of a website',
      description: `As far as the caller may read it: nobody learns of changes that they would not see. ${resuming}`,
      tag: changeTag,
      scope: 'website',
      access: 'members',
      answers: stream,
      answer: ({ caller, website, signal, header }) =>
        Promise.resolve({ events: follow({ caller, website, signal }, header('last-event-id')) }),
    }),
  ];
};
