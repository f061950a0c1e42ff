import type { StepOutputs } from '../../events/provisioning/provisioning.events.js';
import { ProviderFault } from '../../integrations/fault.js';
import type { Hosting } from '../../integrations/hosting/port.js';
import type { SourceHost } from '../../integrations/sourceHost/port.js';

/** Something that a job has made, as it was recorded then. */
export interface Made {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
}

/** The repository and the project of a job, as far as its steps have recorded them. */
export const madeBy = (outputs: Partial<StepOutputs>): { readonly repository?: Made; readonly project?: Made } => {
  const { github_create_repo: repository, vercel_create_project: project } = outputs;
  return {
    ...(repository !== undefined && { repository }),
    ...(project !== undefined && { project: { ...project, id: project.projectId } }),
  };
};

/**
 * Removes what has the marker, under every name that it may have, since an attempt whose answer was lost
 * may have made it under any; and what was renamed at the provider, by its id.
 * @param made what is known of it
 * @returns the names under which it was removed
 * @throws ProviderFault also when it is at another provider than the service is set up for: it would
 *   not be found, and stay there
 */
export const removeMade = async (
  { provider, removeOne }: { readonly provider: string; readonly removeOne: RemoveOne },
  { names, marker, made }: { readonly names: Iterable<string>; readonly marker: string; readonly made: Made | undefined },
): Promise<readonly string[]> => {
  if (made !== undefined && made.provider !== provider) {
    const message = `${made.name} is at ${made.provider}, and the service is set up for ${provider}: set the service up for ${made.provider} until it is removed`;
    throw new ProviderFault({ provider, message, transient: false });
  }
  const removed: string[] = [];
  for (const name of names) if (await removeOne({ name, marker })) removed.push(name);
  if (removed.length > 0 || made === undefined) return removed;
  const { name, id } = made;
  return (await removeOne({ name, marker, id })) ? [name] : [];
};

type RemoveOne = (request: { name: string; marker: string; id?: string }) => Promise<boolean>;

/** How repositories and projects are removed. */
export const removersOf = ({
  sourceHost,
  hosting,
}: {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
}): Readonly<Record<'repository' | 'project', { readonly provider: string; readonly removeOne: RemoveOne }>> => ({
  repository: { provider: sourceHost.provider, removeOne: (request) => sourceHost.deleteRepository(request) },
  project: { provider: hosting.provider, removeOne: (request) => hosting.deleteProject(request) },
});
