import { describe, expect, it } from '@jest/globals';
import pc from 'picocolors';
import { commands } from '../../cli/src/commands/index.js';
import type { Call } from '../../cli/src/parse.js';
import { readCommandLine } from '../../cli/src/program.js';

const callOf = async (...words: readonly string[]): Promise<Call> => {
  const asked = await readCommandLine(words, commands, { width: 80, style: pc.createColors(false) });
  if (!('call' in asked)) throw new Error('help was asked for');
  return asked.call;
};

describe('--json before arguments', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['clients add --role viewer --json corner-bakery nell@example.com', { website: 'corner-bakery', email: 'nell@example.com' }],
    ['clients add --role viewer corner-bakery --json nell@example.com', { website: 'corner-bakery', email: 'nell@example.com' }],
    ['clients add --role viewer --json corner-bakery -y nell@example.com', { website: 'corner-bakery' }],
    ['--profile ops clients add --role viewer --json corner-bakery nell@example.com', { website: 'corner-bakery' }],
    ['delivery checkpoint --json corner-bakery qa done', { website: 'corner-bakery', checkpoint: 'qa', status: 'done' }],
    ['delivery checkpoint corner-bakery --json qa done', { website: 'corner-bakery', checkpoint: 'qa', status: 'done' }],
    ['delivery checkpoint corner-bakery qa --json done', { website: 'corner-bakery', checkpoint: 'qa', status: 'done' }],
    ['delivery checkpoint --json -- corner-bakery qa done', { website: 'corner-bakery', checkpoint: 'qa', status: 'done' }],
    ['events --json corner-bakery', { website: 'corner-bakery' }],
    ['search --json bakery', { words: ['bakery'] }],
    ['search --json bakery,cake', { words: ['bakery,cake'] }],
  ])('gives the word that it takes back to its place: %s', async (line, args) => {
    const call = await callOf(...line.split(' '));
    expect(call.args).toMatchObject(args);
    expect(call.output).toEqual({ json: true });
  });

  it.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
    ['clients add --role viewer --json id,email corner-bakery nell@example.com', { website: 'corner-bakery' }, ['id', 'email']],
    ['clients add --role viewer corner-bakery nell@example.com --json id', { website: 'corner-bakery' }, ['id']],
    ['websites list --json slug', {}, ['slug']],
    ['events --json=event,data', { website: undefined }, ['event', 'data']],
    ['events --json event,data', { website: undefined }, ['event', 'data']],
    ['events corner-bakery --json event', { website: 'corner-bakery' }, ['event']],
    ['search bakery --json websites', { words: ['bakery'] }, ['websites']],
  ])('takes fields: %s', async (line, args, json) => {
    const call = await callOf(...line.split(' '));
    expect(call.args).toMatchObject(args);
    expect(call.output).toEqual({ json });
  });

  it('keeps fields that are written with = apart from a missing argument', async () => {
    await expect(callOf('clients', 'add', '--role', 'viewer', '--json=id', 'corner-bakery')).rejects.toThrow(
      'Missing argument <email>',
    );
  });
});

describe('an empty value', () => {
  it.each<[readonly string[], string]>([
    [['websites', 'list', '--json='], '--json: write the fields as name,slug, or leave them out'],
    [['websites', 'list', '--json', 'name,,slug'], '--json: write the fields as name,slug, or leave them out'],
    [['websites', 'list', '--jq='], '--jq: must not be empty'],
    [['websites', 'list', '--limit='], '--limit: "" is not a whole number'],
    [['websites', 'list', '--client', ''], '--client: must not be empty'],
    [['websites', 'list', '--profile='], '--profile: must not be empty'],
    [['websites', 'get', ''], '<website>: must not be empty'],
    [['events', ''], '[website]: must not be empty'],
    [['delivery', 'set', 'bakery', '--remove', ' '], '--remove: must not be empty'],
    [['websites', 'archive', 'bakery', '--idempotency-key='], '--idempotency-key: must not be empty'],
  ])('is refused with its name: %j', async (words, message) => {
    await expect(callOf(...words)).rejects.toThrow(message);
  });

  it('is taken where it means none', async () => {
    expect((await callOf('delivery', 'set', 'bakery', '--preview-url', '')).options).toMatchObject({ previewUrl: '' });
    expect((await callOf('clients', 'update', 'a@example.com', '--name=')).options).toMatchObject({ name: '' });
    expect((await callOf('media', 'describe', 'bakery', 'm1', '')).args).toMatchObject({ alt: '' });
    expect((await callOf('websites', 'list', '--query', '')).options).toMatchObject({ query: '' });
  });
});
