process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./linearizable.test.js');

export {};
