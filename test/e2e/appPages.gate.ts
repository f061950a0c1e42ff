process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./appPages.test.js');

export {};
