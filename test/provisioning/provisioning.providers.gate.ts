process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./provisioning.providers.test.js');

export {};
