import { afterAll } from '@jest/globals';
import { eventually } from './eventually.js';

export interface ReceivedEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A reader of server-sent events. */
export interface EventReader {
  readonly status: number;
  readonly received: readonly ReceivedEvent[];
  /** Waits for the first event that is as wanted. */
  readonly until: (wanted: Partial<ReceivedEvent['data']> & { readonly event?: string }) => Promise<ReceivedEvent>;
  /** How the answer ended. */
  readonly done: Promise<'ended' | 'cut off'>;
  readonly leave: () => void;
}

const open = new Set<() => void>();

afterAll(() => {
  for (const leave of open) leave();
});

/** Reads from `/v1<path>`, until it leaves or the test file ends. */
export const readEvents = async (
  url: string,
  path: string,
  token: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> => {
  const leaving = new AbortController();
  const leave = (): void => {
    leaving.abort();
  };
  open.add(leave);
  const response = await fetch(`${url}/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: leaving.signal,
  });
  const received: ReceivedEvent[] = [];
  const read = async (): Promise<'ended' | 'cut off'> => {
    let text = '';
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        const blocks = `${text}${Buffer.from(chunk).toString()}`.split('\n\n');
        text = blocks.pop() ?? '';
        received.push(...blocks.flatMap(eventIn));
      }
      return 'ended';
    } catch {
      return 'cut off';
    } finally {
      open.delete(leave);
    }
  };
  return {
    status: response.status,
    received,
    until: (wanted) =>
      eventually(`an event ${JSON.stringify(wanted)}`, () =>
        received.find(({ event, data }) =>
          Object.entries(wanted).every(([field, value]) => (field === 'event' ? event : data[field]) === value),
        ),
      ),
    done: read(),
    leave,
  };
};

const eventIn = (block: string): readonly ReceivedEvent[] => {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2))) as Record<string, string>;
  const { event = 'message', id = '', data } = fields;
  return data === undefined ? [] : [{ event, id, data: JSON.parse(data) as ReceivedEvent['data'] }];
};
