export type ClientCommand =
  | {
      readonly type: 'RegisterClient';
      readonly at: string;
      readonly clientId: string;
      /** Sealed, as all that is personal in a command. */
      readonly email: string;
      readonly name?: string | undefined;
    }
  | { readonly type: 'RenameClient'; readonly at: string; readonly clientId: string; readonly name: string }
  | { readonly type: 'EraseClient'; readonly at: string; readonly clientId: string };

export interface ClientEmailCommand {
  /** A release by anybody but the client that holds the address changes nothing. */
  readonly type: 'ReserveClientEmail' | 'ReleaseClientEmail';
  readonly at: string;
  readonly clientId: string;
}

export interface ClientSubjectCommand {
  readonly type: 'BindClientSubject';
  readonly at: string;
  readonly clientId: string;
  readonly subject: string;
}

export const clientStream = (clientId: string): string => `client-${clientId}`;

/** Reservation of a lower-case address; its name does not tell the address. */
export const emailStream = (blindIndex: (text: string) => string, email: string): string => `client-email-${blindIndex(email)}`;

/** What an identity provider's subject is bound to. */
export const subjectStream = (blindIndex: (text: string) => string, subject: string): string =>
  `client-subject-${blindIndex(subject)}`;
