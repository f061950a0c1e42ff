export type ClientCommand =
  | {
      readonly type: 'RegisterClient';
      readonly at: string;
      readonly clientId: string;
      /** Encrypted, like all personal data in a command. */
      readonly email: string;
      readonly name?: string | undefined;
    }
  | { readonly type: 'RenameClient'; readonly at: string; readonly clientId: string; readonly name: string }
  | { readonly type: 'EraseClient'; readonly at: string; readonly clientId: string };

export interface ClientEmailCommand {
  /** A release changes nothing unless the client holds the address. */
  readonly type: 'ReserveClientEmail' | 'ReleaseClientEmail';
  readonly at: string;
  /** Blind index of the lower-case address. */
  readonly emailIndex: string;
  readonly clientId: string;
}

export interface ClientSubjectCommand {
  readonly type: 'BindClientSubject';
  readonly at: string;
  /** Blind index of the identity provider's subject. */
  readonly subjectIndex: string;
  readonly clientId: string;
  readonly subject: string;
}
