import { Type } from 'typebox';
import { invoiceStatuses } from '../../../integrations/payments/port.js';
import { PersonalText } from '../../personalFields.js';

const Time = Type.String({ format: 'date-time' });

export const Invoice = Type.Object(
  {
    id: Type.String({ description: 'As the payment provider names it.' }),
    websiteId: Type.String(),
    clientId: Type.String({ description: 'Whom it is for: the owner at that time.' }),
    number: Type.Optional(Type.String({ description: 'As it is printed on the invoice.' })),
    status: Type.Enum([...invoiceStatuses]),
    total: Type.Integer({ description: 'In the smallest unit of the currency.' }),
    amountPaid: Type.Integer(),
    currency: Type.String({ description: 'ISO 4217, lower-case.' }),
    description: Type.Optional(PersonalText),
    createdAt: Time,
    dueAt: Type.Optional(Time),
    paidAt: Type.Optional(Time),
    voidedAt: Type.Optional(Time),
    url: Type.Optional(Type.String({ description: 'Where it can be viewed and paid.' })),
  },
  { $id: 'Invoice', description: 'An invoice, as the payment provider has it.' },
);
