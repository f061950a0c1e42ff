import { Type } from 'typebox';

const Id = Type.String({ minLength: 1, maxLength: 200 });

/** Path parameters. Any string may be an id: one that names nothing is answered with 404, in the words of what was not found. */
export const websiteParams = Type.Object({ id: Id });
export const clientParams = Type.Object({ id: Id });
export const invitationParams = Type.Object({ id: Id });
export const websiteClientParams = Type.Object({ id: Id, clientId: Id });
export const websiteTransferParams = Type.Object({ id: Id, transferId: Id });
export const websiteInvoiceParams = Type.Object({ id: Id, invoiceId: Id });
export const websiteInvitationParams = Type.Object({ id: Id, invitationId: Id });
export const websiteBookingParams = Type.Object({ id: Id, bookingId: Id });
export const websiteServiceParams = Type.Object({ id: Id, serviceId: Id });
