export type ClientCommand =
  | {
      readonly type: 'RegisterClient';
      readonly at: string;
      readonly clientId: string;
      readonly email: string;
      readonly name?: string | undefined;
    }
  | { readonly type: 'RenameClient'; readonly at: string; readonly clientId: string; readonly name: string };

export interface ClientEmailCommand {
  readonly type: 'ReserveClientEmail';
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
