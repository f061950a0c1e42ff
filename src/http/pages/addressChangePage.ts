import { timingSafeEqual } from 'node:crypto';
import {
  addressChangeKey,
  confirmAddressChange,
  viewAddressChange,
  type AddressChangeView,
} from '../../commands/client/addressChange.handlers.js';
import type { ErasureParts } from '../../commands/erasure/erasure.handlers.js';
import type { Engine } from '../../engine.js';
import { clientOfAddressChange } from '../../events/client/client.stream.js';
import type { Brand } from '../../platform/brand.js';
import { html, type Html } from '../../platform/html.js';
import type { Reply } from '../reply.js';
import type { Frame } from './frame.js';

/** A request for the page of a change of address. */
export interface AddressChangeRequest {
  readonly changeId: string;
  /** As the mailed link holds it. */
  readonly key: string;
  /** The button was pressed. Programs that look at mails open links, but press no buttons. */
  readonly confirms: boolean;
  readonly requestId: string;
}

/** The page on which the owner of a new address confirms it; the link's key is all that it takes. */
export type AddressChangePage = (request: AddressChangeRequest) => Promise<Reply>;

/**
 * @param parts `base`: path of the public address, without a trailing slash; `frame` puts the content
 *   into a page in the agency's name
 */
export const createAddressChangePage = ({
  engine,
  erasure,
  frame,
  brand,
  base,
}: {
  readonly engine: Engine;
  readonly erasure: ErasureParts;
  readonly frame: Frame;
  readonly brand: Brand;
  readonly base: () => string;
}): AddressChangePage => {
  const confirm = (changeId: string, subject: string, requestId: string): Promise<AddressChangeView> =>
    confirmAddressChange(engine, erasure, changeId, {
      commandId: engine.ids.commandId(),
      actor: { subject, role: 'client', via: 'portal' },
      requestId,
    });

  return async ({ changeId, key, confirms, requestId }) => {
    const clientId = clientOfAddressChange(changeId);
    const isProved = clientId !== null && isSame(key, addressChangeKey(engine, changeId));
    const view: AddressChangeView = !isProved
      ? { status: 'gone' }
      : confirms
        ? await confirm(changeId, clientId, requestId)
        : await viewAddressChange(engine, changeId);
    const action = `${base()}/app/address-changes/${changeId}?key=${encodeURIComponent(key)}`;
    return frame({ ...statusOf[view.status], content: contentOf(view, brand, { action, home: `${base()}/app/` }) });
  };
};

const isSame = (given: string, key: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(key)];
  return one.length === other.length && timingSafeEqual(one, other);
};

const statusOf = {
  pending: { status: 200, title: 'Confirm your address' },
  confirmed: { status: 200, title: 'Address confirmed' },
  expired: { status: 410, title: 'Expired link' },
  gone: { status: 404, title: 'Not found' },
  taken: { status: 400, title: 'Address in use' },
} as const satisfies Record<AddressChangeView['status'], object>;

const contentOf = (
  view: AddressChangeView,
  { name }: Brand,
  { action, home }: { readonly action: string; readonly home: string },
): Html => {
  switch (view.status) {
    case 'pending':
      return html`<h1>Confirm your new address</h1>
        <p>Once you confirm it, you sign in at ${name} with <strong>${view.address}</strong>, and mails go there.</p>
        <form method="post" action="${action}"><button type="submit">Use this address</button></form>
        <p class="aside">If you did not expect this, close this page. Nothing changes then.</p>`;
    case 'confirmed':
      return html`<h1>Your address is confirmed</h1>
        <p>You sign in at ${name} with <strong>${view.address}</strong> from now on.</p>
        <p><a class="button" href="${home}">Go to your websites</a></p>`;
    case 'expired':
      return html`<h1>This link has expired</h1>
        <p>Your address is as it was. Ask ${name} to change it again; you then get a new link.</p>`;
    case 'taken':
      return html`<h1>This address is in use</h1>
        <p>Somebody else is known with it at ${name} by now, so your address is as it was. Ask ${name} to help you.</p>`;
    case 'gone':
      return html`<h1>This link is no longer valid</h1>
        <p>It was replaced or withdrawn, or it is not complete. Copy the whole link, or ask ${name} for a new one.</p>`;
    default:
      return view satisfies never;
  }
};
