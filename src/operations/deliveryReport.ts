import type { DeliveryBlock } from '../events/delivery/delivery.block.js';
import type { DeliveryCheckpoint, DeliveryEvent } from '../events/delivery/delivery.events.js';
import type { NamedActor } from '../events/actorNames.js';
import type { JsonValue } from '../events/envelope.js';
import type { DeliveryHistoryEntry } from '../events/delivery/delivery.history.js';

export interface NamedEntry extends DeliveryHistoryEntry {
  readonly actor: NamedActor;
}

/** As in `checkpoint status set`. */
const wordsOf = (type: DeliveryEvent['type']): string =>
  type
    .replace(/^Delivery/, '')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();

/** A delivery block's changes, oldest first, and the resulting block, as text for a terminal. */
export const reportOf = (websiteId: string, history: readonly NamedEntry[]): string => {
  const count = history.length === 1 ? '1 change' : `${String(history.length)} changes`;
  const last = history.at(-1);
  const parts = [
    `Delivery of website ${printable(websiteId)}: ${count}`,
    ...history.map(changeText),
    ...(last === undefined || last.block === null ? [] : [blockText(last.block, last.revision)]),
  ];
  return `${parts.join('\n\n')}\n`;
};

/** The same as JSON: the history in the form of the API, and the resulting block. */
export const reportAsJson = (websiteId: string, history: readonly NamedEntry[]): string => {
  const changes = history.map(({ block: _, revision, ...entry }) => ({ revision: Number(revision), ...entry }));
  return `${JSON.stringify({ websiteId, changes, block: history.at(-1)?.block ?? null }, null, 2)}\n`;
};

const changeText = ({ revision, at, actor, type, changes, reason, reasonVisible, undid }: NamedEntry): string => {
  const head = `#${String(revision)}  ${at}  ${actorText(actor)}  ${wordsOf(type)}`;
  const why =
    reason === undefined ? [] : [['reason', `${printable(reason)}${reasonVisible === true ? ' (clients may be told)' : ''}`]];
  const what = undid === undefined ? [] : [['undid', `#${String(undid)}`]];
  const rows = changes.map(({ path, from, to }) => [
    path,
    from === null ? valueText(to) : `${valueText(from)} → ${valueText(to)}`,
  ]);
  return [head, ...table([...why, ...what, ...rows])].join('\n');
};

const actorText = ({ subject, name = subject, role, via, tokenId }: NamedActor): string =>
  `${printable(subject)}${name === subject ? '' : `, ${printable(name)}`} (${role}, ${via}${tokenId === undefined ? '' : ` ${printable(tokenId)}`})`;

const blockText = (block: DeliveryBlock, revision: bigint): string => {
  const { estimatedCompletionAt, showPreviewUrl, previewUrlOverride, checkpoints, updatedAt } = block;
  const rows = [
    ['estimatedCompletionAt', estimatedCompletionAt],
    ['showPreviewUrl', String(showPreviewUrl)],
    ['previewUrlOverride', valueText(previewUrlOverride ?? null)],
    ...checkpoints.map((checkpoint) => [`checkpoints.${checkpoint.id}`, checkpointText(checkpoint)]),
  ];
  return [`The block at revision ${String(revision)}, since ${updatedAt}:`, ...table(rows)].join('\n');
};

const table = (rows: readonly (readonly string[])[]): string[] => {
  const width = Math.max(0, ...rows.map(([name = '']) => name.length));
  return rows.map(([name = '', value = '']) => `    ${name.padEnd(width)}  ${value}`);
};

const valueText = (value: JsonValue): string => {
  if (value === null) return 'none';
  if (Array.isArray(value)) return printable(value.join(', '));
  return typeof value === 'object' ? checkpointText(value as unknown as DeliveryCheckpoint) : printable(String(value));
};

const checkpointText = ({ label, order, status, dueAt, completedAt, neededFromClient }: DeliveryCheckpoint): string =>
  [
    `“${printable(label)}”`,
    `order ${String(order)}`,
    status,
    ...(dueAt === undefined ? [] : [`due ${dueAt}`]),
    ...(completedAt === undefined ? [] : [`completed ${completedAt}`]),
    ...(neededFromClient === undefined ? [] : [`needed from the client: “${printable(neededFromClient)}”`]),
  ].join(', ');

/** Escapes control characters, so that stored text cannot control the terminal. */
const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
