process.env['DOORSTEP_STORM'] ??= 'gate';
await import('./killStorm.test.js');

export {};
