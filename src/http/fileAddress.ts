import { Refused, refusals } from '../commands/refusal.js';
import type { Engine } from '../engine.js';
import { isoTime } from '../platform/clock.js';
import { contentDisposition } from '../platform/fileName.js';
import { generationOf } from '../platform/vault/serviceKeys.js';
import type { FileStore } from '../integrations/files/port.js';
import type { Caller } from './auth/caller.js';

/** What a kind of file is called in an address. */
export type FileKind = 'document' | 'media';

/** What tells whether somebody may still what they might when an address was made. */
type Grantor = Pick<Caller, 'subject' | 'role' | 'tokenId' | 'verifiedEmail'>;

/** Whose file an address is of, for whom, how it is shown, and until when. */
export interface FileGrant {
  readonly kind: FileKind;
  readonly websiteId: string;
  readonly id: string;
  readonly disposition: 'inline' | 'attachment';
  readonly caller: Caller;
  /** The admin who asked as the caller (`?as=`): the address falls with their rights too. */
  readonly viewer?: Grantor;
  /** Ms since the epoch. */
  readonly expiresAt: number;
}

/** Seconds that an address is good for (api.md, section 4). */
const lifetimeS = 300;

interface AddressedFile {
  readonly id: string;
  readonly websiteId: string;
  readonly file: string;
  readonly name: string;
  readonly contentType: string;
}

/** Signs addresses of files, and opens them again. */
export interface FileAddresses {
  /** An address that is good for 5 minutes: the store's own, or one of this service. */
  readonly sign: (
    kind: FileKind,
    file: AddressedFile,
    disposition: FileGrant['disposition'],
    asking: { readonly caller: Caller; readonly viewer: Caller | undefined },
  ) => Promise<{ readonly url: string; readonly expiresAt: string }>;
  /** @throws Refused when the address was changed, is another file's, or has lapsed */
  readonly open: (id: string, signature: string) => Promise<FileGrant>;
}

export const createFileAddresses = (parts: {
  readonly engine: Pick<Engine, 'vault' | 'clock'>;
  readonly files: FileStore;
  readonly baseUrl: () => string;
}): FileAddresses => {
  const { engine, files, baseUrl } = parts;
  // Encrypted, since it names the caller.
  const cipher = () => engine.vault.cipher('doorstep file addresses');

  return {
    sign: async (kind, { id, websiteId, file, name, contentType }, disposition, { caller, viewer }) => {
      const expiresAt = engine.clock.now() + lifetimeS * 1_000;
      const own = await files.signedUrl(file, {
        expiresInS: lifetimeS,
        contentType,
        disposition: contentDisposition(disposition, name),
      });
      if (own !== null) return { url: own, expiresAt: isoTime(expiresAt) };
      const grant: FileGrant = {
        kind,
        websiteId,
        id,
        disposition,
        caller,
        ...(viewer !== undefined && { viewer: grantorOf(viewer) }),
        expiresAt,
      };
      const signature = await cipher().encrypt(Buffer.from(JSON.stringify(grant)), id);
      const query = new URLSearchParams({ signature });
      return { url: `${baseUrl()}/files/${id}?${query.toString()}`, expiresAt: isoTime(expiresAt) };
    },
    open: async (id, signature) => {
      const grant = await decrypted(id, signature);
      if (grant === null || grant.expiresAt <= engine.clock.now()) throw new Refused(refusals.fileAddressLapsed());
      return grant;
    },
  };

  async function decrypted(id: string, signature: string): Promise<FileGrant | null> {
    if (!/^(?:\d{1,9}\.)?[A-Za-z0-9+/]+={0,2}$/.test(signature)) return null;
    // A generation that never was has no key.
    if (generationOf(signature) > (await engine.vault.generation()).number) return null;
    try {
      return JSON.parse((await cipher().decrypt(signature, id)).toString()) as FileGrant;
    } catch (error) {
      if (isForged(error)) return null;
      throw error;
    }
  }
};

/** No more than that, since it makes the address longer. */
const grantorOf = ({ subject, role, tokenId, verifiedEmail }: Caller): Grantor => ({
  subject,
  role,
  ...(tokenId !== undefined && { tokenId }),
  ...(verifiedEmail !== undefined && { verifiedEmail }),
});

/** What AES-GCM says of a text that was changed, or encrypted for another file. */
const isForged = (error: unknown): boolean =>
  /unable to authenticate|Invalid (?:authentication tag|initialization vector)/i.test((error as Error).message);
