import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import type { Hosting } from '../../../integrations/hosting/port.js';
import type { SourceHost } from '../../../integrations/sourceHost/port.js';
import { NO_STREAM } from '../../../events/store/eventStore.js';
import { provisioningJob } from '../../../projections/provisioning/provisioning.queries.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { provisioningProcess } from '../../../workers/provisioning/provisioning.process.js';
import type { Caller } from '../../auth/caller.js';
import { route, type Answer, type Route, type RouteRequest, type RouteTag, type ServerSentEvent } from '../../route.js';
import { readPageByPlace, totalOf } from '../../paging.js';
import { maxCollaborators, usernamePattern } from '../../schemas.js';
import { ProvisioningJob, toProvisioningJob } from './provisioning.resource.js';
import { createReceiptCheck, ProvisioningReceipt } from './receipts.js';
import { provisioningReceiptsFold } from '../../../events/provisioning/provisioning.receipts.js';
import { provisioningStream } from '../../../events/provisioning/provisioning.stream.js';
import type { Reader } from '../../../projections/reader.js';

const provisioningTag: RouteTag = { name: 'Provisioning', description: 'The progress of making a website.' };
/** One event: before OpenAPI 3.2 the schema of a stream describes each. */
const JobEvent = Type.Object({
  event: Type.Literal('job'),
  id: Type.String({ description: 'Revision of the job.' }),
  data: Type.String({
    contentMediaType: 'application/json',
    contentSchema: ProvisioningJob,
    description: 'The job, as JSON.',
    examples: ['{"id":"01m8209kq77stv79ztp49ygfyt","status":"running"}'],
  }),
});
const theJob = { 200: { description: 'The provisioning job.', schema: ProvisioningJob } };

const username = new RegExp(usernamePattern);

/** As at the creation of a website. @throws Refused */
const collaboratorsIn = (list: string | undefined): readonly string[] | undefined => {
  if (list === undefined) return undefined;
  const names = list.split(',').filter((name) => name !== '');
  const areSound = names.length <= maxCollaborators && names.every((name) => username.test(name));
  if (areSound && new Set(names).size === names.length) return names;
  throw new Refused(
    refusals.invalidQuery('collaborators', 'name up to 50 usernames on the source host, each once, separated by commas'),
  );
};

export interface ProvisioningRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  /** Public base address, without a trailing slash. */
  readonly baseUrl: () => string;
}

/** The provisioning job of a website: read, followed, taken up again; the receipts of what it made. */
export const provisioningRoutes = ({ engine, reader, baseUrl, ...providers }: ProvisioningRouteParts): readonly Route[] => {
  const checkReceipts = createReceiptCheck({ ...providers, clock: engine.clock });

  const toAnswer = async (
    { reader: now, website, caller }: Pick<RouteRequest, 'reader' | 'website' | 'caller'>,
    through?: bigint,
  ): Promise<Answer> => {
    const { document, revision } = await provisioningJob(now, website.website, through);
    const body = toProvisioningJob(document, caller.role, { slug: website.website.slug, baseUrl });
    return { body, ...(revision !== NO_STREAM && { revision }) };
  };

  const readJob = async (website: WebsiteDocument, { role }: Caller) => {
    const { document, revision } = await provisioningJob(reader, website);
    const data = toProvisioningJob(document, role, { slug: website.slug, baseUrl });
    const hasEnded = data.status === 'succeeded' || data.status === 'failed';
    return { text: JSON.stringify(data), hasEnded, event: { event: 'job', id: String(revision), data } };
  };

  /**
   * The job at once, unless the reader has it, then whenever it has changed, until it has ended.
   * @param lastEventId what the reader has
   */
  async function* follow(
    { website: { website }, caller, signal }: RouteRequest,
    lastEventId: string | undefined,
  ): AsyncGenerator<readonly ServerSentEvent[]> {
    // Before the first read, so that no change between the two is missed.
    const changes = await engine.watch([provisioningStream.name({ jobId: website.provisioningJobId })], signal);
    let sent = '';
    do {
      const { text, hasEnded, event } = await readJob(website, caller);
      const isNew = text !== sent && event.id !== lastEventId;
      sent = text;
      if (isNew) yield [event];
      if (hasEnded) return;
    } while ((await changes.next()).done !== true);
  }

  return [
    route({
      method: 'get',
      path: '/websites/:id/provisioning',
      operationId: 'getProvisioningJob',
      summary: 'Read how the provisioning of a website stands',
      description: 'The latest run, with its six steps. Clients see how far it is, and not what the steps made.',
      tag: provisioningTag,
      scope: 'website',
      access: 'members',
      answers: theJob,
      answer: (request) => toAnswer(request),
    }),

    route({
      method: 'get',
      path: '/websites/:id/provisioning/events',
      operationId: 'followProvisioningJob',
      summary: 'Follow the provisioning of a website',
      description:
        'An event for the job as it is, then one for each change, until it has succeeded or failed. `Last-Event-ID` goes on where a connection broke; 204: it has ended.',
      tag: provisioningTag,
      scope: 'website',
      access: 'members',
      answers: {
        200: {
          description: 'Server-sent events: the job (`ProvisioningJob`) at once, then at each change, until it ends.',
          contentType: 'text/event-stream',
          schema: JobEvent,
        },
        204: { description: 'The job has ended, and the reader has that event: there is no need to connect again.' },
      },
      answer: async (request) => {
        const lastEventId = request.header('last-event-id');
        if (lastEventId !== undefined) {
          const { hasEnded, event } = await readJob(request.website.website, request.caller);
          if (hasEnded && event.id === lastEventId) return { status: 204 };
        }
        return { events: follow(request as RouteRequest, lastEventId) };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id/provisioning/receipts',
      operationId: 'listProvisioningReceipts',
      summary: 'List what provisioning made at the providers, in the order of its making, and what is there now',
      description:
        'The providers are asked at each call, all things of a page at once. One that gives no answer within 5 seconds makes its things `unknown`, with the reason. What a retry found in place of something `uncertain` comes last: read the list anew after one.',
      tag: provisioningTag,
      scope: 'website',
      access: 'admin',
      paging: { count: true },
      answers: {
        200: { description: 'A page of receipts; none before the first step.', schema: Type.Array(ProvisioningReceipt) },
      },
      answer: async ({ query, website: { website } }) => {
        const { provisioningJobId: jobId } = website;
        const { state } = await reader.state(provisioningReceiptsFold, { jobId });
        const { items, next } = await readPageByPlace(query, ({ skip, limit }) =>
          Promise.resolve(state.receipts.slice(skip, skip + limit)),
        );
        const body = await checkReceipts({ ...state, marker: jobId }, items);
        return { body, next, total: await totalOf(query, () => state.receipts.length) };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/provisioning/retry',
      operationId: 'retryProvisioning',
      summary: 'Let a failed provisioning go on from the step that failed',
      description:
        'What the earlier steps made is kept and used. What is not there yet is named by the slug that the website has now, so that one that was taken at a provider can be changed before. A collaborator whose name nobody has at the source host is replaced with `collaborators`.',
      tag: provisioningTag,
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      refusals: ['provisioning_not_failed', 'provisioning_in_compensation'],
      query: Type.Object({
        collaborators: Type.Optional(
          Type.String({
            maxLength: 2_000,
            examples: ['anna,berta'],
            description:
              'Who is invited to the repository instead of those that were named before: up to 50 usernames on the source host, separated by commas; empty: nobody. Who was invited before the step failed keeps that: withdraw it at the source host.',
          }),
        ),
      }),
      answers: theJob,
      act: async ({ query, website: { website }, context, expectation }, acting) => {
        const { id: websiteId, provisioningJobId: jobId, slug } = website;
        const collaborators = collaboratorsIn(query.collaborators);
        const command = { type: 'RetryProvisioning', jobId, websiteId, slug, collaborators } as const;
        return acting.handle(provisioningProcess, command, context, expectation);
      },
      answer: (request, { revision }) => toAnswer(request, revision),
    }),

    route({
      method: 'post',
      path: '/websites/:id/provisioning/cleanup',
      operationId: 'cleanUpProvisioning',
      summary: 'Remove what a failed provisioning has made: its project, then its repository',
      description: 'Goes on by itself after the answer; `cleanup` of the job says how it stands.',
      tag: provisioningTag,
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      refusals: ['provisioning_not_failed'],
      answers: { 202: { description: 'The provisioning job, whose `cleanup` says how it stands.', schema: ProvisioningJob } },
      act: async ({ website: { website }, context, expectation }, acting) => {
        const { id: websiteId, provisioningJobId: jobId, status } = website;
        // An active website needs what its provisioning has made, whatever became of the job.
        if (status === 'active') throw new Refused(refusals.provisioningNotFailed(websiteId));
        return acting.handle(provisioningProcess, { type: 'RequestCompensation', jobId, websiteId }, context, expectation);
      },
      answer: async (request, { revision }) => ({
        ...(await toAnswer(request, revision)),
        status: 202,
      }),
    }),
  ];
};
