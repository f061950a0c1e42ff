import { Type } from 'typebox';
import { Refused, refusals, withViolations } from '../commands/refusal.js';
import type { Engine } from '../engine.js';
import { createKeyedLimit } from '../platform/keyedLimit.js';
import type { Standing } from './auth/standing.js';
import { parseBody, readBody } from './body.js';
import { allowUpload } from './bodyTime.js';
import { answerFor } from './errors.js';
import type { Exchange } from './exchange.js';
import { headerOf } from './handlerRequest.js';
import type { Route } from './route.js';
import { maxOverheadBytes, receiveUpload, type ReceivedUpload } from './upload.js';
import { bodyValidator } from './validation.js';

/** A body as it came: whole, or as a form whose file is stored. */
export type SentBody = { readonly bytes: Buffer } | ReceivedUpload;

export interface RequestBody {
  readonly value: unknown;
  /** As sent. */
  readonly bytes: Buffer | undefined;
}

export const noBody: RequestBody = { value: undefined, bytes: undefined };

/** Takes the bodies of one route's requests. */
export interface BodyReader {
  /** Reads a whole body. */
  readonly read: (exchange: Exchange) => Promise<SentBody>;
  /** Receives a form with a file, and removes the file again unless `proceed` keeps it. */
  readonly withUpload: (
    exchange: Exchange,
    standing: Standing,
    options: { readonly dryRun: boolean; readonly isAdmitted: boolean },
    proceed: (sent: SentBody, keep: () => void) => Promise<void>,
  ) => Promise<void>;
  /** @throws Refused when it is not as the route has it */
  readonly parse: (sent: SentBody) => Promise<RequestBody>;
}

/** Of one subject at the same time: others wait, so that nobody's slow connections fill the disk with drafts. */
const maxUploadsOfSubject = 4;

const noFields = Type.Object({});

/** @param parts `limitBodyTime`: answers a request whose body takes longer than a stranger's may */
export const createBodyReader = (
  route: Route,
  { engine, limitBodyTime }: { readonly engine: Engine; readonly limitBodyTime: (exchange: Exchange) => void },
): BodyReader => {
  const validate = bodyValidator(route.body ?? noFields);
  const limitUploads = createKeyedLimit(maxUploadsOfSubject);

  return {
    read: async (exchange) => {
      route.checkHead?.(headerOf(exchange.request));
      if (route.access === 'public') limitBodyTime(exchange);
      return { bytes: await readBody(exchange.request, exchange.admission) };
    },

    withUpload: async (exchange, { caller, website }, { dryRun, isAdmitted }, proceed) => {
      const { upload } = route;
      if (upload === undefined || website === undefined || caller === undefined) {
        throw new Error(`${route.operationId} takes no file of a website`);
      }
      const { request } = exchange;
      const { id } = website.website;
      if (!isAdmitted) await upload.admit(id, Math.max(1, Number(request.headers['content-length'] ?? 0) - maxOverheadBytes));
      // Also while it waits for its turn.
      allowUpload(request);
      await limitUploads(caller.subject, async () => {
        const key = dryRun ? null : `${id}/${engine.ids.commandId()}`;
        const sent = await receiveUpload(request, upload.files, key);
        let isKept = false;
        try {
          await proceed(sent, () => {
            isKept = true;
          });
        } catch (error) {
          // It may have been recorded: then it must stay. If not, it is removed with the other orphans.
          isKept = answerFor(error, exchange.requestId).status >= 500;
          throw error;
        } finally {
          if (key !== null && !isKept) await upload.files.remove(key);
        }
      });
    },

    parse: async (sent) => {
      const isForm = 'upload' in sent;
      const bytes = isForm ? Buffer.from(JSON.stringify([sent.fields, sent.upload.fileName, sent.upload.sha256])) : sent.bytes;
      if (route.raw !== undefined) return { value: undefined, bytes };
      if (route.body === undefined && saysNothing(bytes)) return noBody;
      const value = isForm ? { ...sent.fields } : parseBody(bytes);
      const violations = validate(value);
      if (route.precheck !== undefined && isObject(value)) {
        const refusal = await route.precheck(value, violations);
        if (refusal !== null) throw new Refused(withViolations(refusal, violations));
      }
      const [first, ...others] = violations;
      if (first !== undefined) throw new Refused(refusals.invalidBody(first.field, first.issue, others));
      // Of a write that takes no body, one without fields says nothing.
      return route.body === undefined ? noBody : { value, bytes };
    },
  };
};

/** Some clients send `null` where there is no body. */
const saysNothing = (bytes: Buffer): boolean => bytes.length < 10 && /^\s*(?:null)?\s*$/.test(bytes.toString('latin1'));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
