/** Where events hold personal data, by type: sealed (`platform/personal.ts`), as the actor's subject is when it tells an address. */
export const personalFields: Readonly<Record<string, readonly string[]>> = {
  ClientRegistered: ['email', 'name'],
  ClientRenamed: ['name'],
  ClientSubjectBound: ['subject'],
  InvitationIssued: ['email'],
  InvitationRenewed: ['email'],
  InvitationAccepted: ['subject'],
  TransferClaimed: ['subject'],
  APIKeyMinted: ['subject', 'verifiedEmail', 'userName'],
};
