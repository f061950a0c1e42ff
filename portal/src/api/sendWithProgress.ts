/** Header lines as `XMLHttpRequest` gives them. */
const headersOf = (lines: string): Headers => {
  const headers = new Headers();
  for (const line of lines.trim().split('\r\n')) {
    const at = line.indexOf(':');
    if (at > 0) headers.append(line.slice(0, at), line.slice(at + 1).trim());
  }
  return headers;
};

/** Called with the share of the body that was sent, 0 to 1. */
export type OnProgress = (share: number) => void;

/** Sends a request as `fetch` does, and says how far it is: `fetch` does not. */
export const sendWithProgress =
  (onProgress: OnProgress) =>
  async (request: Request, { signal }: RequestInit): Promise<Response> => {
    const body = await request.blob();
    // It may have been stopped while the file was read.
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const exchange = new XMLHttpRequest();
      exchange.open(request.method, request.url);
      request.headers.forEach((value, name) => exchange.setRequestHeader(name, value));
      exchange.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total));
      exchange.addEventListener('load', () => {
        const { status, responseText } = exchange;
        resolve(new Response(responseText, { status, headers: headersOf(exchange.getAllResponseHeaders()) }));
      });
      exchange.addEventListener('error', () => reject(new TypeError('The connection was lost')));
      exchange.addEventListener('abort', () => reject(new DOMException('It was stopped', 'AbortError')));
      signal?.addEventListener('abort', () => exchange.abort());
      exchange.send(body);
    });
  };
