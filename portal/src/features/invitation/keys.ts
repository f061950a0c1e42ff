export const invitationKeys = {
  invitation: (invitationId: string) => ['invitations', invitationId],
  ledger: (invitationId: string) => ['invitations', invitationId, 'ledger'],
} as const;
