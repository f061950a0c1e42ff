import { Type, type Static } from 'typebox';
import { isoTime } from '../../platform/clock.js';
import { parserFor } from '../http.js';
import type { Commit, Repository } from './port.js';

/** The fields used of GitHub's responses (https://docs.github.com/en/rest), and their translation. */
export const provider = 'GitHub';

const Repo = Type.Object({
  full_name: Type.String(),
  name: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  default_branch: Type.String(),
  clone_url: Type.String(),
});
export type Repo = Static<typeof Repo>;
const Person = Type.Object({ login: Type.String() });
const GitPerson = Type.Union([
  Type.Null(),
  Type.Object({ name: Type.Optional(Type.String()), date: Type.Optional(Type.String()) }),
]);

export const parseInvitation = parserFor(provider, Type.Object({ id: Type.Number() }));
export const parseNothing = parserFor(provider, Type.Literal(''));
export const parseRepo = parserFor(provider, Repo);
export const parseCollaborators = parserFor(
  provider,
  Type.Array(Type.Object({ login: Type.String(), permissions: Type.Optional(Type.Object({ push: Type.Boolean() })) })),
);
export const parseInvitations = parserFor(provider, Type.Array(Type.Object({ invitee: Type.Union([Type.Null(), Person]) })));
const ListedCommit = Type.Object({
  sha: Type.String(),
  html_url: Type.String(),
  commit: Type.Object({ message: Type.String(), author: GitPerson, committer: GitPerson }),
});
export type ListedCommit = Static<typeof ListedCommit>;
export const parseCommits = parserFor(provider, Type.Array(ListedCommit));

export const parseRef = parserFor(provider, Type.Object({ object: Type.Object({ sha: Type.String() }) }));
export const parseSha = parserFor(provider, Type.Object({ sha: Type.String() }));
export const parseCommit = parserFor(provider, Type.Object({ tree: Type.Object({ sha: Type.String() }) }));
export const parseTree = parserFor(
  provider,
  Type.Object({
    tree: Type.Array(Type.Object({ path: Type.String(), mode: Type.String(), type: Type.String(), sha: Type.String() })),
  }),
);
const Folder = Type.Array(Type.Object({ name: Type.String() }));
const Blob = Type.Object({ encoding: Type.Literal('base64'), content: Type.String() });
export const parseBlob = parserFor(provider, Blob);
/** Of more than 1 MB, the content is left out. */
export const parseContents = parserFor(
  provider,
  Type.Union([Folder, Blob, Type.Object({ encoding: Type.Literal('none'), sha: Type.String() })]),
);

export const repositoryOf = ({ full_name: id, name, default_branch: defaultBranch, clone_url: cloneUrl }: Repo): Repository => ({
  id,
  name,
  defaultBranch,
  cloneUrl,
});

export const toCommit = ({ sha: id, html_url: url, commit }: ListedCommit): Commit => {
  const { message, author, committer } = commit;
  const at = Date.parse(committer?.date ?? author?.date ?? '');
  return { id, message, author: author?.name ?? '', ...(Number.isFinite(at) && { committedAt: isoTime(at) }), url };
};
