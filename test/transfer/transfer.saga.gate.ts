process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./transfer.saga.test.js');

export {};
