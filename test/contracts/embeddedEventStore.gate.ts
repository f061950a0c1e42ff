process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./embeddedEventStore.test.js');

export {};
