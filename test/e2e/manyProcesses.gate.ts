process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./manyProcesses.test.js');

export {};
