/**
 * What commands on documents and on media do alike: both are files that the service keeps, and keeps
 * for 30 days when they are deleted.
 */
import type { UploadOptions, Website } from '@doorstep/sdk';
import { argument, flag, text } from '../command.js';
import type { Context, WriteOptions } from '../context.js';
import { change } from './shared.js';

interface Kept {
  readonly id: string;
  readonly name: string;
}

export const fileArgument = argument('The file', { placeholder: 'file', completes: 'file' });
export const deletedIdArgument = argument('Its id, as its deletion said', { placeholder: 'id' });

export const downloadOptions = {
  output: text('The file to write, - for standard output', { short: 'o', placeholder: 'file', completes: 'file' }),
  force: flag('Replace a file that is there'),
};

/** Uploads a file to a website, and shows how that goes. */
export const upload = async (
  context: Context,
  { file, website }: { readonly file: string; readonly website: Website },
  send: (options: WriteOptions & Pick<UploadOptions, 'onProgress'>) => Promise<Kept>,
): Promise<void> => {
  const { showProgress } = await import('../progress.js');
  const progress = showProgress(context, file);
  try {
    await change(
      context,
      (options) => send({ ...options, ...progress.options }),
      ({ id, name }) => {
        progress.end();
        return { said: `${name} is uploaded to ${website.name}.`, value: id };
      },
    );
  } finally {
    progress.end();
  }
};

/** Asks, deletes, and says how to bring it back. @param group the commands on its kind */
export const deleteKept = async (
  context: Context,
  { group, website, one: { id, name } }: { readonly group: string; readonly website: Website; readonly one: Kept },
  send: (options: WriteOptions) => Promise<unknown>,
): Promise<void> => {
  await context.confirm(`Delete ${name}?`);
  await change(context, send, () => ({
    said: `${name} is deleted. To bring it back within 30 days: doorstep ${group} undo-delete ${website.slug} ${id}`,
  }));
};
