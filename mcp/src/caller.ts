import type { Doorstep } from '@doorstep/sdk';

/** Who the tools act for. */
export interface Caller {
  readonly subject: string;
  readonly role: 'admin' | 'client';
  /** `read`: the token cannot write. */
  readonly scope: 'read' | 'write';
  /** The personal access token; none with a sign-in. */
  readonly tokenId?: string;
  /** The OAuth client that a person signed in with. */
  readonly program?: string;
}

/**
 * Asks the service who the token stands for.
 * @throws DoorstepError when the service cannot be reached or refuses the token
 */
export const loadCaller = async (doorstep: Doorstep): Promise<Caller> => {
  const { subject, role, credential } = await doorstep.me.get();
  return { subject, role, scope: credential.scope, ...(credential.id !== undefined && { tokenId: credential.id }) };
};
