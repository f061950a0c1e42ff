import type { Engine } from '../../engine.js';
import { createActorNames } from '../../events/actorNames.js';
import type { ContentEvent } from '../../events/content/content.events.js';
import { contentVersionBody } from '../../events/content/content.history.js';
import { contentFold, type ContentState } from '../../events/content/content.state.js';
import type { ContentKey } from '../../events/content/content.stream.js';
import type { Actor, JsonObject } from '../../events/envelope.js';
import { canonicalJson, hashOfJson } from '../../platform/canonicalJson.js';
import type { CommandContext, Handled, HandleOptions } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import type { RestoreContent, SaveContent } from './content.commands.js';
import { contentDecider } from './content.decider.js';

type Handling = Promise<Handled<ContentState, ContentEvent>>;

/** Runs what saves `bytes` of a document, with the bytes that there is room for. */
export type WithContentRoom = <Result>(
  key: ContentKey,
  bytes: number,
  save: (room: number) => Promise<Result>,
) => Promise<Result>;

/** An event may have 1 MiB, with all that stands in it beside the document. */
export const maxContentBytes = 900_000;

/**
 * Saves a document over the version that its author saw.
 * @param input `initialHash`: of what it holds while nobody has saved it
 * @throws Refused: `Someone else saved …` with the current hash, who and when in its details;
 *   `Invalid request body — body: …`; `Content limit reached …`
 */
export const saveContent = async (
  engine: Engine,
  input: Omit<SaveContent, 'type' | 'at' | 'hash' | 'bytes' | 'room'>,
  withRoom: WithContentRoom,
  context: CommandContext,
  options?: HandleOptions,
): Handling => {
  const text = canonicalJson(input.body);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxContentBytes) {
    throw new Refused(refusals.invalidBody('body', `must have at most ${maxContentBytes.toLocaleString('en')} bytes`));
  }
  const saved = { ...input, hash: hashOfJson(input.body), body: JSON.parse(text) as unknown, bytes };
  return withRoom(input, bytes, (room) =>
    namingWhoSaved(engine, context, () =>
      engine.handle(contentDecider, { type: 'SaveContent', ...saved, room }, context, options),
    ),
  );
};

/**
 * Saves an earlier version again, as a version of its own.
 * @param check refuses a version that may not be saved any more
 * @throws Refused: as `saveContent`; not found, the version not found
 */
export const restoreContent = async (
  engine: Engine,
  input: Omit<RestoreContent, 'type' | 'at' | 'body' | 'bytes' | 'room'>,
  withRoom: WithContentRoom,
  context: CommandContext,
  options?: HandleOptions,
  check: (body: unknown) => Promise<void> = () => Promise.resolve(),
): Handling => {
  const { state } = await engine.state(contentFold, input);
  const version = state.stage === 'none' ? undefined : state.versions.find(({ hash }) => hash === input.hash);
  const body = version === undefined ? null : await contentVersionBody(engine, input, version.revision);
  if (version !== undefined) await check(body);
  const restored = { ...input, body, bytes: Buffer.byteLength(canonicalJson(body)) };
  return withRoom(input, restored.bytes, (room) =>
    namingWhoSaved(engine, context, () =>
      engine.handle(contentDecider, { type: 'RestoreContent', ...restored, room }, context, options),
    ),
  );
};

/** Puts the name of whoever saved last into a refusal that says so. */
const namingWhoSaved = async <Result>(
  engine: Engine,
  { actor: { role: readerRole } }: CommandContext,
  act: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const details = error.refusal.details as JsonObject | undefined;
    if (details?.updatedBy === undefined || details.updatedBy === null) throw error;
    const { toActor, people } = createActorNames(engine, { readerRole });
    const { tokenId: _, program: __, ...updatedBy } = await toActor(details.updatedBy as unknown as Actor);
    throw new Refused({ ...error.refusal, details: { ...details, updatedBy }, people: people() });
  }
};
