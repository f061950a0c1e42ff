process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./signInPages.test.js');

export {};
