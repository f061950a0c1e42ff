process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./eventStoreDb.test.js');

export {};
