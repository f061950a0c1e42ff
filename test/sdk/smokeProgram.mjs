/**
 * What every runtime does with the SDK: a write, a stream, an upload, pages and an error.
 * @param {Pick<typeof import('@doorstep/sdk'), 'Doorstep' | 'NotFoundError'>} sdk
 * @param {string} baseUrl
 * @param {string} token
 * @param {string} slug
 * @param {string | Blob} file
 */
export const tryService = async ({ Doorstep, NotFoundError }, baseUrl, token, slug, file) => {
  const doorstep = new Doorstep({ baseUrl, token });
  const { id } = await doorstep.websites.create({ name: 'Corner Bakery', slug });
  let status = 'unknown';
  for await (const job of doorstep.websites.provisioning.watch(id)) status = job.status;

  /** @type {number[]} */
  const sent = [];
  const body = { file, name: 'plan.txt' };
  const { size } = await doorstep.websites.documents.upload(id, body, { onProgress: (progress) => sent.push(progress.sent) });

  await doorstep.websites.delivery.replace(id, {});
  await doorstep.websites.delivery.setCheckpointStatus(id, 'kickoff', 'done');
  await doorstep.websites.delivery.setCheckpointStatus(id, 'kickoff', 'pending');
  let changes = 0;
  for await (const page of doorstep.websites.delivery.history(id, { limit: 1 }).pages()) changes += page.length;

  const planned = await doorstep.websites.update(id, { name: 'Bakery' }, { dryRun: true });
  const error = await doorstep.websites.get('nothing').catch((/** @type {unknown} */ reason) => reason);
  if (!(error instanceof NotFoundError)) throw error;
  return {
    status,
    size,
    sent: sent.at(-1),
    changes,
    planned: planned.events.map(({ type }) => type),
    error: error.message,
    isNamed: error.requestId !== undefined,
    found: (await doorstep.websites.find(slug)).id === id,
    metrics: (await doorstep.system.metrics()).includes('events_appended_total'),
    exported: (await new Response(await doorstep.audit.export('csv', { websiteId: id })).text()).split('\n').length > 3,
    picture: (await doorstep.templates.picture('business')).type,
  };
};
