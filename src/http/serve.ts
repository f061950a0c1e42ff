import { createHash } from 'node:crypto';
import { parse as parseQuery } from 'node:querystring';
import { Type } from 'typebox';
import { Refused, throwIfRefused, type Violation } from '../commands/refusal.js';
import type { Engine, Plan } from '../engine.js';
import { personalFields } from '../events/catalogue.js';
import type { PlannedEvent } from '../events/store/planningEventStore.js';
import { nextTurn } from '../platform/eventLoop.js';
import type { BindSubject } from './auth/bindSubject.js';
import type { Caller, WebsiteAccess } from './auth/caller.js';
import { archivedRefusalFor } from './auth/rules.js';
import type { FindStanding } from './auth/standing.js';
import type { SpendBudget } from './budgets.js';
import { revisionsAllowed } from './conditional.js';
import { answerFor, httpErrors } from './errors.js';
import { sendParts } from './bodyStream.js';
import { sendEvents } from './eventStream.js';
import { hasBody, type Exchange } from './exchange.js';
import { HandlerRequest, type HandlerInput } from './handlerRequest.js';
import { idempotencyKeyOf, type Idempotency } from './idempotency.js';
import { dryRunType, replyTo, replyToError, send, type Reply } from './reply.js';
import { createBodyReader, noBody, type SentBody } from './requestBody.js';
import type { Answer, Route } from './route.js';
import { peopleInAnswersOf } from './storedResponse.js';
import { sendContent } from './sendContent.js';
import { createStreamGuard, type StreamGuard } from './streamGuard.js';
import { pathParamsOf, textsValidator } from './validation.js';

/** Answers one request of one route. Whatever goes wrong is thrown. */
export type Serve = (exchange: Exchange, params: Record<string, string>) => Promise<void>;

export interface ServeParts {
  readonly engine: Engine;
  readonly findStanding: FindStanding;
  /** As `findStanding`, and tells `note` of every stream that the standing rests on. */
  readonly findStandingNoting: (note: (stream: string) => void) => FindStanding;
  readonly idempotency: Idempotency;
  readonly bindSubject: BindSubject;
  readonly baseUrl: () => string;
  /** Told of an answer that goes on for long; returns what to call when it has ended. */
  readonly onStream: (exchange: Exchange, end: () => void) => () => void;
  readonly spendBudget: SpendBudget;
  /** Answers a request whose body takes longer than a stranger's may. */
  readonly limitBodyTime: (exchange: Exchange) => void;
}

/** A read that took longer (it waited for a list, or a provider) is authorised again. */
const slowAnswerMs = 1_000;

/**
 * The steps of a request, in this order, so that nobody learns more than they may: who calls, the
 * path's parameters, whether they may, whether `If-Match` has a use, `Idempotency-Key`, the query,
 * whether the website is archived, the body, `If-Match`, the handler. Who calls and whether they may
 * is asked again when time has passed: after a body that was waited for, after another request with
 * the same `Idempotency-Key`, and before a slow read is answered.
 */
export const createServe = (route: Route, parts: ServeParts): Serve => {
  const { engine, findStanding, idempotency, baseUrl } = parts;
  const params = textsValidator(pathParamsOf(route));
  const query = textsValidator(route.query ?? Type.Object({}));
  const isWrite = route.method !== 'get';
  const bodies = createBodyReader(route, parts);
  const peopleIn = peopleInAnswersOf(route);

  const answerRequest = async (exchange: Exchange, request: HandlerRequest): Promise<Answer> => {
    const decided = await decide(route, exchange, request, engine);
    // Not before: a request that is refused changes nothing.
    if (isWrite && route.access !== 'public') await parts.bindSubject(request, engine);
    return route.answer(request, decided);
  };

  /** Answers a dry run: decides, and says which events there would be. */
  const answerPlan = async (exchange: Exchange, request: HandlerRequest, plan: Plan): Promise<void> => {
    await decide(route, exchange, request, plan.engine);
    const body = { events: await Promise.all(plan.planned.map((event) => toReadable(event, engine))) };
    send(exchange, replyTo(exchange, { body, headers: { 'content-type': dryRunType } }, baseUrl()));
  };

  /** Sends an answer: at once, as a file, or as a stream, which ends when its guard finds that access has ended. */
  const sendAnswer = async (
    exchange: Exchange,
    handled: HandlerRequest,
    answer: Answer,
    createGuard: () => StreamGuard,
  ): Promise<void> => {
    const { content, events, parts: bodyParts } = answer;
    if (content !== undefined) {
      await sendContent(exchange, { ...answer, content });
      return;
    }
    if (events === undefined && bodyParts === undefined) {
      send(exchange, replyTo(exchange, answer, baseUrl()));
      return;
    }
    const end = (): void => {
      handled.abort();
    };
    const streaming = { clock: engine.clock, signal: handled.signal, end, guard: createGuard() };
    const ended = parts.onStream(exchange, end);
    try {
      if (events !== undefined) await sendEvents(exchange, { ...answer, events }, streaming);
      else if (bodyParts !== undefined) await sendParts(exchange, { ...answer, parts: bodyParts }, streaming);
    } finally {
      ended();
    }
  };

  return async (exchange, values) => {
    const { request } = exchange;
    // A small body comes with the head: once it is there, one look at the caller is enough.
    const mayTakeLong = isWrite && hasBody(request);
    if (mayTakeLong) await nextTurn();
    const isSlow = mayTakeLong && !request.complete;
    const asked = queryOf(request.originalUrl);
    if (!isWrite && route.access !== 'public') exchange.viewAs = takeAs(asked);
    let standing = await findStanding(exchange, route, values, () => {
      check('path params', [...params(values), ...unprintable(values)]);
    }).finally(() => {
      if (route.vital !== true) parts.spendBudget(exchange);
    });
    if (isWrite && asked.as !== undefined) throw httpErrors.invalid('query', [writesAsNobody]);
    if (isWrite && route.ifMatch !== 'honoured' && request.headers['if-match'] !== undefined) {
      throw httpErrors.ifMatchNotSupported();
    }
    const key = isWrite && route.access !== 'public' ? idempotencyKeyOf(request.headers) : undefined;
    const dryRun = isWrite && takeDryRun(asked);
    check('query', query(asked));
    const isArchivedRefused = key === undefined || dryRun;
    if (isArchivedRefused) refuseArchived(route, standing.website);
    const findAgain = async (): Promise<void> => {
      standing = await findStanding(exchange, route, values);
    };

    /** What is done once the body is there. */
    const proceed = async (sent: SentBody | undefined, keepUpload: () => void = () => undefined): Promise<void> => {
      if (isSlow || route.upload !== undefined) {
        await findAgain();
        if (isArchivedRefused) refuseArchived(route, standing.website);
      }
      const { value, bytes } = sent === undefined ? noBody : await bodies.parse(sent);

      const { caller } = standing;
      const plan = dryRun ? engine.plan() : undefined;
      const actorSubject = caller !== undefined && isWrite ? await actorSubjectOf(caller, plan?.engine ?? engine) : undefined;
      const input = (): HandlerInput => ({
        params: values,
        query: asked,
        body: value,
        raw: bytes,
        ...(sent !== undefined && 'upload' in sent && { upload: { upload: sent.upload, keep: keepUpload } }),
        reader: standing.reader,
        caller: standing.caller,
        website: standing.website,
        ...(actorSubject !== undefined && { actorSubject }),
      });

      if (plan !== undefined) {
        await answerPlan(exchange, new HandlerRequest(engine, exchange, input()), plan);
        return;
      }

      if (key !== undefined && caller !== undefined) {
        const same = { key, caller, path: request.path, request: requestHash(request.originalUrl, bytes), peopleIn, findAgain };
        const reply = await idempotency(same, async (repeated) => {
          // Not before: what was answered is answered again, also when the website was archived
          // since.
          refuseArchived(route, standing.website);
          return settled(
            exchange,
            () => answerRequest(exchange, new HandlerRequest(engine, exchange, { ...input(), repeated })),
            baseUrl,
          );
        });
        send(exchange, reply);
        return;
      }

      const handled = new HandlerRequest(engine, exchange, input());
      const answer = await answerRequest(exchange, handled);
      if (!isWrite && engine.clock.now() - exchange.startedAt > slowAnswerMs) await findAgain();
      await sendAnswer(exchange, handled, answer, () =>
        createStreamGuard(engine, standing, (note) => parts.findStandingNoting(note)(exchange, route, values)),
      );
    };

    if (route.upload !== undefined)
      await bodies.withUpload(exchange, standing, { dryRun, isAdmitted: key !== undefined }, proceed);
    else await proceed(isWrite ? await bodies.read(exchange) : undefined);
  };
};

const refuseArchived = (route: Route, access: WebsiteAccess | undefined): void => {
  if (access !== undefined) throwIfRefused(archivedRefusalFor(route, access.website));
};

const decide = async (route: Route, exchange: Exchange, request: HandlerRequest, acting: Engine): Promise<unknown> => {
  const ifMatch = exchange.request.headers['if-match'];
  return route.method !== 'get' && ifMatch !== undefined
    ? actIfMatch(route, request, acting, ifMatch)
    : route.act?.(request, acting);
};

/**
 * With several tags in `If-Match` the state has to be any of theirs: they are tried one after the
 * other.
 */
const actIfMatch = async (route: Route, request: HandlerRequest, acting: Engine, ifMatch: string): Promise<unknown> => {
  const revisions = revisionsAllowed(ifMatch);
  if (revisions === undefined) return route.act?.(request.expecting({ mustExist: true }), acting);
  let stale: unknown;
  for (const expectedRevision of revisions) {
    try {
      return await route.act?.(request.expecting({ expectedRevision }), acting);
    } catch (error) {
      if (!isStale(error)) throw error;
      stale = error;
    }
  }
  throw stale;
};

const isStale = (error: unknown): boolean => error instanceof Refused && error.refusal.code === 'stale';

/** Shows personal data as text. */
const toReadable = async ({ data, ...event }: PlannedEvent, { personal }: Engine): Promise<PlannedEvent> => {
  const readable = { ...data };
  for (const field of personalFields[event.type] ?? []) {
    const text = readable[field];
    if (typeof text === 'string') readable[field] = await personal.display(text);
  }
  return { ...event, data: readable };
};

const actorSubjectOf = async ({ encryptedSubject, subject }: Caller, acting: Engine): Promise<string> =>
  encryptedSubject ?? (await acting.personal.encryptSubject(subject));

/**
 * What a write came to, refusals included: the same request gets the same refusal again. Faults are
 * thrown on.
 */
const settled = async (exchange: Exchange, handle: () => Promise<Answer>, baseUrl: () => string): Promise<Reply> => {
  try {
    return replyTo(exchange, await handle(), baseUrl());
  } catch (error) {
    const answer = answerFor(error, exchange.requestId);
    if (answer.status >= 500) throw error;
    exchange.errorCode = answer.code;
    return replyToError(answer);
  }
};

const check = (what: 'path params' | 'query', violations: readonly Violation[]): void => {
  if (violations.length > 0) throw httpErrors.invalid(what, violations);
};

const control = /\p{Cc}/u;
/** Ids become parts of stream names, which hold no control characters. */
const unprintable = (values: Readonly<Record<string, string>>): readonly Violation[] => {
  for (const [field, value] of Object.entries(values)) {
    if (control.test(value)) return [{ field, issue: 'must not hold control characters' }];
  }
  return [];
};

const queryOf = (url: string): Record<string, unknown> => {
  const mark = url.indexOf('?');
  return mark === -1 ? {} : parseQuery(url.slice(mark + 1));
};

const writesAsNobody: Violation = { field: 'as', issue: 'works on GET only: nobody writes as somebody else' };

/** Takes `as`, which every read of a signed-in caller has, out of the query. */
const takeAs = (asked: Record<string, unknown>): unknown => {
  const { as } = asked;
  delete asked.as;
  return as;
};

/** Takes `dryRun`, which every write has, out of the query: what is left is the route's own. */
const takeDryRun = (asked: Record<string, unknown>): boolean => {
  const { dryRun } = asked;
  delete asked.dryRun;
  if (dryRun === undefined || dryRun === '0' || dryRun === 'false') return false;
  if (dryRun === '1' || dryRun === 'true') return true;
  throw httpErrors.invalid('query', [{ field: 'dryRun', issue: 'must be 1 or true' }]);
};

const requestHash = (url: string, bytes: Buffer | undefined): string =>
  createHash('sha256')
    .update(url.slice(url.indexOf('?') + 1 || url.length))
    .update('\n')
    .update(bytes ?? '')
    .digest('hex');
