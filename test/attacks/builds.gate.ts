process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./builds.test.js');

export {};
