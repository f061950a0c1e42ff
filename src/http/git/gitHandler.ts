import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Refused, refusals, throwIfRefused } from '../../commands/refusal.js';
import { slugFold } from '../../events/website/website.state.js';
import { maxPushBytes, maxRepositoryBytes, type GitServer, type GitService } from '../../integrations/sourceHost/port.js';
import { createKeyedLimit } from '../../platform/keyedLimit.js';
import type { Reader } from '../../projections/reader.js';
import { pushProcess } from '../../workers/push/push.process.js';
import { createAuthenticate } from '../auth/authenticate.js';
import { authorise } from '../auth/authorise.js';
import type { Caller, WebsiteAccess } from '../auth/caller.js';
import { archivedRefusalFor, readOnlyRefusalFor } from '../auth/rules.js';
import type { StandingParts } from '../auth/standing.js';
import { SenderGone } from '../body.js';
import type { SpendBudget } from '../budgets.js';
import { allowUpload } from '../bodyTime.js';
import { answerFor, HttpFault, httpErrors } from '../errors.js';
import type { Exchange } from '../exchange.js';
import { securityHeaders } from '../reply.js';
import type { Route } from '../route.js';
import { receiveBody } from './receiveBody.js';

export interface GitHandlerParts extends StandingParts {
  readonly gitServer: GitServer;
}

/** Answers requests below `/git`. Whatever goes wrong is thrown. */
export type GitHandler = (exchange: Exchange, spendBudget: SpendBudget) => Promise<void>;

/** The path below `/git`, and what it stands for. */
interface Target {
  readonly slug: string;
  readonly path: string;
  /** Absent: a file of the dumb protocol. */
  readonly service?: GitService;
}

/** In bytes: clients list what they have already. */
const maxCloneRequestBytes = 16 * 1_048_576;
/** Of one subject at the same time, so that nobody's slow connections keep others from being served. */
const maxOfSubject = 4;

/** What the rules of access know of a request, as of any route. */
type GitRoute = Pick<Route, 'method' | 'access' | 'scope' | 'operationId' | 'tag'>;

const tag = { name: 'Git', description: 'Repositories of the embedded source host.' };
const pull: GitRoute = { method: 'get', access: 'members', scope: 'website', operationId: 'git', tag };
const push: GitRoute = { ...pull, method: 'post', access: 'editors' };
const challenge = { 'www-authenticate': 'Basic realm="Doorstep", charset="UTF-8"' };

/** Whether a request may change the repository. */
const isPush = ({ service }: Target): boolean => service === 'git-receive-pack';

/**
 * The embedded repositories by git's protocols over HTTP (api.md, section 1). Who calls, and what
 * they may do, is found by validated reads as for every route, and again once git is to be asked: after
 * the wait for a turn, and once the body is whole.
 */
export const createGitHandler = (parts: GitHandlerParts): GitHandler => {
  const { engine, reader, gitServer } = parts;
  const authenticate = createAuthenticate(parts);
  const limit = createKeyedLimit(maxOfSubject);

  const identify = async (exchange: Exchange, now: Reader): Promise<Caller> => {
    const token = tokenIn(exchange.authorization);
    if (token === undefined) throw new Refused(refusals.noAuthorizationHeader());
    const caller = await authenticate(now, `Bearer ${token}`, 'token');
    exchange.caller = caller;
    return caller;
  };

  const find = async (
    exchange: Exchange,
    target: Target,
    spendBudget?: SpendBudget,
  ): Promise<{ caller: Caller; access: WebsiteAccess }> => {
    const now = reader.sinceNow();
    const caller = await identify(exchange, now).finally(() => spendBudget?.(exchange));
    const route = isPush(target) ? push : pull;
    throwIfRefused(readOnlyRefusalFor(route, caller));
    const { state } = await now.state(slugFold, { slug: target.slug });
    if (state.stage === 'free') throw httpErrors.notFound();
    const access = await authorise(now, route, caller, { id: state.websiteId });
    if (access === undefined) throw new Error('every repository is a website’s');
    throwIfRefused(archivedRefusalFor(route, access.website));
    return { caller, access };
  };

  const repositoryOf = ({ website: { repository } }: WebsiteAccess): string => {
    if (repository?.provider !== 'embedded') throw httpErrors.notFound();
    return repository.id;
  };

  const sendFile = async (
    { request, response, requestId, headers }: Exchange,
    repositoryId: string,
    path: string,
  ): Promise<void> => {
    const file = await gitServer.file(repositoryId, path);
    if (file === null) throw httpErrors.notFound();
    response.writeHead(200, {
      ...securityHeaders,
      ...headers,
      'x-request-id': requestId,
      'content-type': file.contentType,
      'content-length': file.bytes,
      'cache-control': file.isImmutable ? 'private, max-age=31536000, immutable' : 'no-cache',
      vary: 'authorization',
    });
    if (request.method === 'HEAD') {
      await file.close();
      response.end();
    } else if (file.content instanceof Uint8Array) response.end(file.content);
    else {
      const gone = onceGone(response);
      await sendAll(response, file.content, gone);
      if (!gone.aborted) response.end();
    }
  };

  /** As a fact, so that it is deployed whatever becomes of this process. */
  const recordPush = async (
    { requestId }: Exchange,
    { website }: WebsiteAccess,
    caller: Caller,
    pushed: { readonly commit: string; readonly previousCommit: string | null },
  ): Promise<void> => {
    const { role, via, tokenId } = caller;
    const subject = caller.encryptedSubject ?? (await engine.personal.encryptSubject(caller.subject));
    const { commit, previousCommit } = pushed;
    await engine.handle(
      pushProcess,
      { type: 'RecordPush', websiteId: website.id, commit, ...(previousCommit !== null && { previousCommit }) },
      {
        commandId: engine.ids.commandId(),
        actor: { subject, role, via, ...(tokenId !== undefined && { tokenId }) },
        requestId,
      },
    );
  };

  const serve = async (exchange: Exchange, target: Target, service: GitService, spendBudget: SpendBudget): Promise<void> => {
    const { request, response, requestId } = exchange;
    const { caller: asking } = await find(exchange, target, spendBudget);
    if (!(await gitServer.isInstalled())) throw httpErrors.gitNotInstalled();
    const gone = onceGone(response);
    const isPost = request.method === 'POST';
    await limit(asking.subject, async () => {
      if (isPost) allowUpload(request);
      const body = isPost
        ? await receiveBody(request, await gitServer.openBuffer(), isPush(target) ? maxPushBytes : maxCloneRequestBytes)
        : undefined;
      try {
        // Access may have ended while it waited for its turn, or the body came.
        const { caller, access } = await find(exchange, target);
        const repositoryId = repositoryOf(access);
        await gitServer.removeLeftovers(repositoryId);
        if (isPost && isPush(target) && (await gitServer.bytesOf(repositoryId)) + (body?.bytes ?? 0) > maxRepositoryBytes) {
          throw httpErrors.repositoryFull(access.website.id);
        }
        // Git waits for the reader of its answer more than it works.
        exchange.yieldPlace();
        const previousCommit = await gitServer.headOf(repositoryId);
        const { 'git-protocol': protocol, 'content-encoding': encoding } = request.headers;
        const answer = await gitServer
          .serve(
            {
              repositoryId,
              service,
              user: caller.tokenId ?? 'token',
              ...(body !== undefined && { body }),
              ...(encoding === 'gzip' && { encoding }),
              ...(typeof protocol === 'string' && /^[\w=:.-]{1,100}$/.test(protocol) && { protocol }),
            },
            gone,
          )
          .catch((error: unknown) => {
            // Git is ended when its caller goes away, and then gives no answer.
            throw gone.aborted ? new SenderGone('the caller went away before git answered', { cause: error }) : error;
          });
        response.writeHead(answer.status, {
          ...securityHeaders,
          ...exchange.headers,
          ...answer.headers,
          'x-request-id': requestId,
        });
        let isWhole = false;
        try {
          await sendAll(response, answer.content, gone);
        } finally {
          // A branch may have moved before the caller went away.
          isWhole = await answer.ended;
          const commit = isPost && isPush(target) ? await gitServer.headOf(repositoryId) : null;
          if (commit !== null && commit !== previousCommit)
            await recordPush(exchange, access, caller, { commit, previousCommit });
        }
        if (isWhole) response.end();
        else response.destroy();
        if (isPost && isPush(target)) await gitServer.tidyUp(repositoryId);
      } finally {
        await body?.close();
      }
    });
  };

  const answer = async (exchange: Exchange, target: Target, spendBudget: SpendBudget): Promise<void> => {
    const { request } = exchange;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const isRpc = target.path.startsWith('git-');
    if (isRpc ? request.method !== 'POST' : !isRead) throw httpErrors.methodNotAllowed(isRpc ? 'POST' : 'GET, HEAD');
    const { service } = target;
    if (service !== undefined && (isPush(target) || isRpc || (await gitServer.isInstalled()))) {
      await serve(exchange, target, service, spendBudget);
      return;
    }
    const { access } = await find(exchange, target, spendBudget);
    await sendFile(exchange, repositoryOf(access), target.path);
  };

  return async (exchange, spendBudget) => {
    try {
      const target = targetIn(exchange.request.url);
      if (target === null) throw httpErrors.notFound();
      await answer(exchange, target, spendBudget);
    } catch (error) {
      // Git asks for a name and a password when it is challenged.
      if (!(error instanceof Refused) || error.refusal.kind !== 'unauthenticated') throw error;
      throw new HttpFault({ ...answerFor(error, exchange.requestId), headers: challenge });
    }
  };
};

/** Aborted once the response is closed. */
const onceGone = (response: ServerResponse): AbortSignal => {
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
  });
  return gone.signal;
};

/**
 * Sends the content, as far as the caller stays for it; the response is left open.
 * @throws what the content throws
 */
const sendAll = async (response: ServerResponse, content: AsyncIterable<Uint8Array>, gone: AbortSignal): Promise<void> => {
  try {
    await pipeline(content, response, { end: false });
  } catch (error) {
    // A clone that is given up is no fault of the service.
    if (!gone.aborted) throw error;
  }
};

const targetIn = (url: string): Target | null => {
  const [path = '', query = ''] = url.split('?', 2);
  const service = new URLSearchParams(query).get('service');
  const [, slug, inside] = /^\/([a-z0-9-]{1,63})\.git\/([\w/.-]{1,200})$/.exec(path) ?? [];
  if (slug === undefined || inside === undefined) return null;
  if (inside === 'git-upload-pack' || inside === 'git-receive-pack') return { slug, path: inside, service: inside };
  const isService = inside === 'info/refs' && (service === 'git-upload-pack' || service === 'git-receive-pack');
  return { slug, path: inside, ...(isService && { service }) };
};

/** The password of `Basic`, whatever the name is, or what comes after `Bearer`. */
const tokenIn = (authorization: string | undefined): string | undefined => {
  const bearer = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const basic = /^basic +([\w+/=-]+)$/i.exec(authorization ?? '')?.[1];
  if (basic === undefined) return undefined;
  const text = Buffer.from(basic, 'base64').toString('utf8');
  const password = text.slice(text.indexOf(':') + 1);
  return /^\S+$/.test(password) ? password : undefined;
};
