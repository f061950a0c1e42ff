import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isoTime, type Clock } from '../../platform/clock.js';
import type { KeyedMutex } from '../../platform/keyedMutex.js';
import { hasExpired } from '../../platform/times.js';
import {
  isPlainName,
  makeFolder,
  makeSubfolder,
  nullIfMissing,
  parseFile,
  publishFolder,
  removeLeftDrafts,
  withdrawFolder,
  writeNewFile,
} from '../embeddedFiles.js';
import type { PreviewAuthor, SiteDraft } from './port.js';
import type { ProjectFolders } from './projectFolders.js';
import type { ServedSite } from './sendSiteFile.js';
import type { Built, BuildRequest, SiteBuilder } from './site/builder.js';

/**
 * `previews/<hash of its secret>/preview.json` in the project's folder, beside `site/` and
 * `compressed/`: whoever reads the folder learns no address.
 */
interface PreviewFile {
  readonly expiresAt: string;
  readonly by: PreviewAuthor;
  readonly built: Built;
}

/** Of one project at a time; an older one ends when there are more. */
const maxPreviews = 10;

const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 32);

export interface Previews {
  /**
   * Builds what is not built yet; the draft's files come over those of the source. One call of a project
   * at a time.
   */
  show(project: string, draft: SiteDraft, source: Pick<BuildRequest, 'gitdir' | 'commit' | 'variables'>): Promise<Built>;
  /**
   * Removes those that have ended, and returns how many there were.
   * @param mutex by which `show` is called once at a time
   */
  removeEnded(mutex: KeyedMutex): Promise<number>;
  /** The preview of a project, while it may be seen. */
  find(project: string, secret: string): Promise<ServedSite | null>;
}

/**
 * Drafts of sites, each in one folder that was made at once, until they end.
 * @param parts `folder`: that of all projects
 */
export const createPreviews = (parts: {
  folder: string;
  projects: Pick<ProjectFolders, 'folderOf' | 'names'>;
  builder: SiteBuilder;
  clock: Clock;
  mayPreview: (by: PreviewAuthor) => Promise<boolean>;
}): Previews => {
  const { projects, builder, clock, mayPreview } = parts;
  /** An empty file for each project that has previews, so that nothing looks for them at all projects. */
  const notes = join(parts.folder, '.previews');

  const folderOf = async (project: string): Promise<string> => join(await projects.folderOf(project), 'previews');

  const note = async (project: string): Promise<void> => {
    await makeFolder(notes);
    await writeFile(join(notes, project), '');
  };
  /** Once: those of an earlier version have no note. */
  const noteFormer = async (): Promise<void> => {
    const areNoted = join(notes, '.all');
    if ((await nullIfMissing(stat(areNoted))) !== null) return;
    for await (const project of projects.names()) {
      if ((await nullIfMissing(stat(await folderOf(project)))) !== null) await note(project);
    }
    await makeFolder(notes);
    await writeFile(areNoted, '');
  };

  const read = async (path: string): Promise<PreviewFile | null> => {
    const file = join(path, 'preview.json');
    const text = await nullIfMissing(readFile(file, 'utf8'));
    return text === null ? null : (parseFile(file, text) as PreviewFile);
  };
  const hasEnded = ({ expiresAt }: PreviewFile): boolean => hasExpired(expiresAt, isoTime(clock.now()));

  /**
   * Removes those that have ended, those that are too many, and what crashes have left of others; returns how many
   * went, and how many are left or may be under way.
   */
  const tidyUp = async (folder: string, max = maxPreviews): Promise<{ readonly removed: number; readonly left: number }> => {
    const ended: string[] = [];
    const kept: { readonly name: string; readonly expiresAt: string }[] = [];
    for (const name of (await nullIfMissing(readdir(folder))) ?? []) {
      if (name.startsWith('.')) continue;
      const preview = await read(join(folder, name));
      // Without its file it is the rest of a removal: it is made with it.
      if (preview === null || hasEnded(preview)) ended.push(name);
      else kept.push({ name, expiresAt: preview.expiresAt });
    }
    kept.sort((one, other) => (one.expiresAt < other.expiresAt ? 1 : -1));
    ended.push(...kept.slice(max).map(({ name }) => name));
    for (const name of ended) await withdrawFolder(join(folder, name), name);
    const underWay = await removeLeftDrafts(folder, clock.now());
    return { removed: ended.length, left: Math.min(kept.length, max) + underWay };
  };

  return {
    show: async (project, { secret, files, expiresAt, by }, source) => {
      await note(project);
      const folder = await folderOf(project);
      const path = join(folder, secretHash(secret));
      const earlier = await read(path);
      if (earlier !== null) return earlier.built;
      await makeSubfolder(folder);
      await tidyUp(folder, maxPreviews - 1);
      const texts = [...files].map(([name, content]) => [name, Buffer.from(content).toString('base64')] as const);
      let built: Built | undefined;
      await publishFolder(path, secretHash(secret), async (draft) => {
        const [site, compressedFolder] = [join(draft, 'site'), join(draft, 'compressed')];
        for (const each of [site, compressedFolder]) await mkdir(each);
        built = await builder.build({ ...source, files: Object.fromEntries(texts), folder: site, compressedFolder });
        const preview: PreviewFile = { expiresAt, by, built };
        await writeNewFile(join(draft, 'preview.json'), JSON.stringify(preview));
      });
      if (built === undefined) throw new Error('a preview was not built');
      return built;
    },

    removeEnded: async (mutex) => {
      await noteFormer();
      let removed = 0;
      for (const project of (await readdir(notes)).filter(isPlainName)) {
        await mutex.run(project, async () => {
          const found = await tidyUp(await folderOf(project));
          removed += found.removed;
          if (found.left === 0) await rm(join(notes, project), { force: true });
        });
      }
      return removed;
    },

    find: async (project, secret) => {
      const path = join(await folderOf(project), secretHash(secret));
      const preview = await read(path);
      if (preview === null || 'failure' in preview.built || hasEnded(preview) || !(await mayPreview(preview.by))) return null;
      const { files, compressed } = preview.built;
      return {
        project,
        folder: join(path, 'site'),
        compressedFolder: join(path, 'compressed'),
        compressed: new Set(compressed),
        files: new Map(Object.entries(files)),
        isUnedited: false,
        isPreview: true,
      };
    },
  };
};
