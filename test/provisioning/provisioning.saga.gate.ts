process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./provisioning.saga.test.js');

export {};
