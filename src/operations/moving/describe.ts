import type { Installation } from '../../compose/installation.js';
import { START } from '../../events/store/eventStore.js';
import { isOurFile } from '../copyFiles.js';

const pageSize = 2_000;

/** What a move would take over, as lines for the operator. */
export const describeInstallation = async ({ log, files }: Installation, withFiles: boolean): Promise<readonly string[]> => {
  let events = 0;
  for (let after = START; ;) {
    const page = await log.readAll({ after, max: pageSize });
    events += page.events.length;
    if (page.events.length === 0) break;
    after = page.position;
  }
  const lines = [`${String(events)} events`, 'the records and the vault beside them'];
  if (!withFiles) return lines;
  let [number, bytes] = [0, 0];
  for await (const file of files.list('')) {
    if (!isOurFile(file.key)) continue;
    number += 1;
    bytes += file.bytes;
  }
  return [...lines, `${String(number)} files with ${String(bytes)} bytes`];
};
