import type { Engine } from '../../engine.js';
import type { DocumentEvent } from '../../events/document/document.events.js';
import type { DocumentState } from '../../events/document/document.state.js';
import { entityId } from '../../platform/ids.js';
import type { CommandContext, Handled } from '../handleCommand.js';
import type { UploadDocument } from './document.commands.js';
import { documentDecider } from './document.decider.js';

/**
 * Records a document whose file is stored already.
 * @returns also whether the document has this file: a repeated command has the first one's
 * @throws Refused: `Storage limit of website <id> reached`
 */
export const uploadDocument = async (
  engine: Engine,
  input: Omit<UploadDocument, 'type' | 'at' | 'documentId'>,
  context: CommandContext,
): Promise<Handled<DocumentState, DocumentEvent> & { readonly documentId: string; readonly hasFile: boolean }> => {
  const documentId = entityId(context.commandId, 'document');
  const handled = await engine.handle(documentDecider, { type: 'UploadDocument', documentId, ...input }, context);
  const { state } = handled;
  return { ...handled, documentId, hasFile: state.stage !== 'none' && state.file === input.file };
};
