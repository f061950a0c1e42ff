import { schemathesisFindsNothing } from './schemathesis.js';

/** Each operation once, by the service's own examples; `schemathesis.gate.ts` goes on from there. */
schemathesisFindsNothing([['an admin', 'admin', 'examples,fuzzing', 1]]);
