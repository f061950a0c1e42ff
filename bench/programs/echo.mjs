/**
 * A bare express application: what any service on express costs at least. Argument: the JSON text
 * that a GET answers with.
 */
import express from 'express';

const answer = JSON.parse(process.argv[2] ?? '{}');
const app = express();
app.use(express.json());
app.put('/v1/websites/:websiteId/delivery/checkpoints/:checkpointId', (request, response) => {
  response.json(request.body);
});
app.get('/v1/websites/:websiteId/delivery', (_request, response) => {
  response.json(answer);
});
app.get('/healthz', (_request, response) => {
  response.json({ status: 'ok' });
});

const server = app.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.({ url: `http://127.0.0.1:${address.port}` });
});
process.on('disconnect', () => process.exit());
