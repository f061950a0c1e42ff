import type { DeliveryChange, VisibleDeliveryChange } from '@doorstep/sdk';
import { clean } from '../output.js';
import { cut } from '../table.js';
import { changeLines } from './changes.js';
import { wrapped, type Drawing } from './drawing.js';
import { shortTime } from './words.js';

/** Each change: revision, time and who, then what changed and why. */
export const historyLines = (changes: readonly (DeliveryChange | VisibleDeliveryChange)[], drawing: Drawing): string[] => {
  // A change names the id of a checkpoint; its label stands in the change that added it.
  const names = new Map<string, string>();
  for (const { path, to } of changes.flatMap((change) => change.changes)) {
    const [, id = '', field] = path.split('.');
    if (field === 'label') names.set(id, String(to));
    else if (field === undefined && typeof to === 'object' && to !== null && 'label' in to) names.set(id, String(to.label));
  }
  const labels = (id: string): string => names.get(id) ?? id;

  return changes.flatMap((change) => {
    const who = 'actor' in change ? `, ${clean(change.actor.name ?? change.actor.subject)}` : '';
    // Clients get no reason that is not for them.
    const isPrivate = 'actor' in change && change.reasonVisible !== true;
    const undid = 'undid' in change ? ` took revision ${String(change.undid)} back` : '';
    const title = `Revision ${String(change.revision)}`;
    return [
      drawing.style.bold(title) +
        drawing.style.dim(cut(`  ${shortTime(change.at, drawing)}${who}${undid}`, drawing.width - title.length)),
      ...changeLines(change.changes, labels, drawing),
      ...(change.reason === undefined
        ? []
        : wrapped(clean(`“${change.reason}”${isPrivate ? ' (clients do not read the reason)' : ''}`), drawing.width, '  ')),
    ];
  });
};
