import { styleText } from 'node:util';

/** Turns a line of the log, one JSON object, into lines for people, with a line break at the end. */
export type ToLines = (line: string) => string;

type Style = Parameters<typeof styleText>[0];

const styleOfLevel: Readonly<Record<string, Style>> = {
  trace: 'gray',
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: ['bold', 'red'],
};
/** The same in every line of a process, or told in another way. */
const leftOut = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'err']);
/** What the line of a request says in its own way. */
const ofRequest = new Set(['method', 'path', 'status', 'durationMs', 'route', 'mode']);
const indent = '    ';

/**
 * For a terminal: the time of day (UTC), the level, the message, then what belongs to it. A code to
 * sign in with stands by itself. What is no JSON object stays as it is.
 * @param inColour whether to write escape sequences for colours
 */
export const createLogLines = (inColour: boolean): ToLines => {
  const paint = (style: Style, text: string): string => (inColour ? styleText(style, text, { validateStream: false }) : text);
  const field = ([name, value]: readonly [string, unknown]): string =>
    `${paint('gray', `${name}=`)}${typeof value === 'string' ? plain(value) : JSON.stringify(value)}`;

  return (line) => {
    const entry = parse(line);
    if (entry === null) return line;
    const { level, time, msg, err, ...others } = entry;
    const label = String(level).toUpperCase().padEnd(5);
    const start = `${paint('gray', String(time).slice(11, 23))} ${paint(styleOfLevel[String(level)] ?? 'white', label)} `;
    const { link, code, method, path, status, durationMs } = others;
    if (typeof link === 'string' && typeof code === 'string') {
      const lines = [
        `${indent}code  ${paint(['bold', 'inverse'], ` ${plain(code)} `)}`,
        `${indent}link  ${paint('underline', plain(link))}`,
      ];
      return `${start}${plain(String(msg))}\n\n${lines.join('\n')}\n\n`;
    }
    const isRequest = msg === 'request' && typeof status === 'number';
    const message = isRequest
      ? `${plain(String(method))} ${plain(String(path))} ${paint(status < 400 ? 'green' : 'yellow', String(status))} ${String(durationMs)} ms`
      : paint('bold', plain(String(msg)));
    const isTold = (name: string): boolean => leftOut.has(name) || (isRequest && ofRequest.has(name));
    const fields = Object.entries(others).filter(([name]) => !isTold(name));
    return `${start}${[message, ...fields.map(field)].join(' ')}\n${err === undefined ? '' : faultLines(err)}`;
  };
};

const parse = (line: string): Record<string, unknown> | null => {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? (entry as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

/** A path or a name could hold escape sequences of its own. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, '�');

const faultLines = (err: unknown): string => {
  const { stack, message } = (typeof err === 'object' && err !== null ? err : { message: err }) as Record<string, unknown>;
  const text = typeof stack === 'string' ? stack : String(message);
  return text
    .split('\n')
    .map((line) => `${indent}${plain(line)}\n`)
    .join('');
};
