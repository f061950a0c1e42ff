import { beforeAll, expect, test } from '@jest/globals';
import { startApi, type RunningApi } from '../support/http.js';

let api: RunningApi;
let token: string;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});

test('a template that there is not is a violation like any other', async () => {
  const body = { name: 'Bakery', slug: 'bakery', templateId: 'palace' };
  expect(await api.call('POST', '/websites', { token, body })).toMatchObject({
    status: 400,
    body: {
      error: 'Invalid request body — templateId: template palace does not exist',
      details: [{ field: 'templateId', issue: 'template palace does not exist' }],
    },
  });
});
