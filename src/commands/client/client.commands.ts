export type ClientCommand =
  | {
      readonly type: 'RegisterClient';
      readonly at: string;
      readonly clientId: string;
      /** Encrypted, like all personal data in a command. */
      readonly email: string;
      readonly name?: string | undefined;
    }
  | {
      readonly type: 'ChangeClient';
      readonly at: string;
      readonly clientId: string;
      /** The client's address as events hold it, with whose key name and address are encrypted. */
      readonly encryptedFor: string;
      /** `null`: none from now on. */
      readonly name?: string | null | undefined;
      /** The client's own withdraws the change that is pending. */
      readonly email?: string | undefined;
      /** The id of the change, if it becomes one. */
      readonly changeId: string;
    }
  | {
      /** Changes nothing unless the change is pending and has not expired. */
      readonly type: 'ConfirmAddressChange';
      readonly at: string;
      readonly clientId: string;
      readonly changeId: string;
      /** Encrypted with a key of its own. */
      readonly email: string;
    }
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
