interface OfClient {
  readonly at: string;
  readonly clientId: string;
}

export type ClientCommand = OfClient &
  (
    | {
        readonly type: 'RegisterClient';
        /** Encrypted, like all personal data in a command. */
        readonly email: string;
        readonly name?: string | undefined;
      }
    | {
        readonly type: 'ChangeClient';
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
        readonly changeId: string;
        /** Encrypted with a key of its own. */
        readonly email: string;
      }
    | { readonly type: 'EraseClient' }
  );

export interface ClientEmailCommand extends OfClient {
  /** A release changes nothing unless the client holds the address. */
  readonly type: 'ReserveClientEmail' | 'ReleaseClientEmail';
  /** Blind index of the lower-case address. */
  readonly emailIndex: string;
}

export interface ClientSubjectCommand extends OfClient {
  readonly type: 'BindClientSubject';
  /** Blind index of the identity provider's subject. */
  readonly subjectIndex: string;
  readonly subject: string;
}
