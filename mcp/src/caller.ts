import { DoorstepError, type Doorstep } from '@doorstep/sdk';

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

type Me = Awaited<ReturnType<Doorstep['me']['get']>>;

/**
 * Asks the service who the token stands for.
 * @throws DoorstepError when the service cannot be reached, refuses the token, or does not say what
 *   the token may do
 */
export const loadCaller = async (doorstep: Doorstep): Promise<Caller> => {
  // An older version of the service says nothing of the token.
  const me: Omit<Me, 'credential'> & { readonly credential?: Me['credential'] } = await doorstep.me.get();
  const { subject, role, credential } = me;
  if (credential === undefined) {
    throw new DoorstepError('The service does not say what the token may do: its version is too old for these tools. Update it.');
  }
  return { subject, role, scope: credential.scope, ...(credential.id !== undefined && { tokenId: credential.id }) };
};
