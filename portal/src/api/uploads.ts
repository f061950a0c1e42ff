import { Doorstep } from '@doorstep/sdk';
import { base } from '../page.js';
import { accessToken } from '../session/session.js';

/** Of what is sent, from 0 to 1. */
export type OnShare = (share: number) => void;

/** `fetch` says nothing of how far it is, so an upload is sent as browsers have always sent one. */
const sendWithProgress =
  (onShare: OnShare): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const body = await request.blob();
    return new Promise((resolve, reject) => {
      const sending = new XMLHttpRequest();
      sending.open(request.method, request.url);
      sending.responseType = 'blob';
      request.headers.forEach((value, name) => sending.setRequestHeader(name, value));
      sending.upload.onprogress = ({ loaded, total }) => onShare(total === 0 ? 0 : loaded / total);
      sending.onload = () => {
        const headers = new Headers();
        for (const line of sending
          .getAllResponseHeaders()
          .trim()
          .split(/[\r\n]+/)) {
          const [name = '', ...value] = line.split(': ');
          headers.append(name, value.join(': '));
        }
        resolve(new Response(sending.status === 204 ? null : (sending.response as Blob), { status: sending.status, headers }));
      };
      sending.onerror = () => reject(new TypeError('The upload was broken off'));
      sending.onabort = () => reject(new DOMException('The upload was cancelled', 'AbortError'));
      request.signal.addEventListener('abort', () => sending.abort());
      sending.send(body);
    });
  };

/** The service, for one upload that says how far it is. */
export const uploading = (onShare: OnShare): Doorstep =>
  new Doorstep({ baseUrl: location.origin + base, token: accessToken, fetch: sendWithProgress(onShare) });
