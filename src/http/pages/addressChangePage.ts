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
import { isSameSecret } from '../../platform/sameSecret.js';
import { fill, fillHtml, textsOf, type Language, type Texts } from '../../platform/texts/texts.js';
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
  readonly language: Language;
}

/** The page on which the owner of a new address confirms it; the link's key is all that it takes. */
export type AddressChangePage = (request: AddressChangeRequest) => Promise<Reply>;

/**
 * @param base path of the public address, without a trailing slash
 * @param frame puts the content into a page in the agency's name
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

  return async ({ changeId, key, confirms, requestId, language }) => {
    const clientId = clientOfAddressChange(changeId);
    const isProved = clientId !== null && isSameSecret(key, addressChangeKey(engine, changeId));
    const view: AddressChangeView = !isProved
      ? { status: 'gone' }
      : confirms
        ? await confirm(changeId, clientId, requestId)
        : await viewAddressChange(engine, changeId);
    const action = `${base()}/app/address-changes/${changeId}?key=${encodeURIComponent(key)}`;
    const texts = textsOf(language).addressChange;
    return frame({
      language,
      status: statusOf[view.status],
      title: titleOf(view, texts),
      content: contentOf(view, texts, { brand: brand.name, action, home: `${base()}/app/` }),
    });
  };
};

const statusOf = {
  pending: 200,
  confirmed: 200,
  expired: 410,
  gone: 404,
  taken: 400,
} as const satisfies Record<AddressChangeView['status'], number>;

const titleOf = ({ status }: AddressChangeView, texts: Texts['addressChange']): string => texts[`${status}Title`];

const contentOf = (
  view: AddressChangeView,
  texts: Texts['addressChange'],
  { brand, action, home }: { readonly brand: string; readonly action: string; readonly home: string },
): Html => {
  const heading = html`<h1>${titleOf(view, texts)}</h1>`;
  switch (view.status) {
    case 'pending':
      return html`${heading}
        <p>${fillHtml(texts.pending, { brand, address: html`<strong>${view.address}</strong>` })}</p>
        <form method="post" action="${action}"><button type="submit">${texts.confirm}</button></form>
        <p class="aside">${texts.unexpected}</p>`;
    case 'confirmed':
      return html`${heading}
        <p>${fillHtml(texts.confirmed, { brand, address: html`<strong>${view.address}</strong>` })}</p>
        <p><a class="button" href="${home}">${texts.toWebsites}</a></p>`;
    case 'expired':
    case 'taken':
    case 'gone':
      return html`${heading}
        <p>${fill(texts[view.status], { brand })}</p>`;
    default:
      return view satisfies never;
  }
};
