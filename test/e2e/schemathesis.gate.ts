import { schemathesisFindsNothing } from './schemathesis.js';

schemathesisFindsNothing([
  ['nobody', undefined, 'examples,fuzzing', 1],
  ['a client', 'client', 'examples,coverage', 1],
  ['an admin', 'admin', 'examples,coverage,fuzzing,stateful', 3],
]);
