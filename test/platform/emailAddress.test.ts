import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { asciiAddress, canonicalAddress } from '../../src/platform/emailAddress.js';
import { addFormatsTo } from '../../src/platform/formats.js';

describe('an address', () => {
  test.each([
    ['Anna@Example.COM', 'anna@example.com'],
    ['anna@Müller.example', 'anna@müller.example'],
    ['anna@xn--mller-kva.example', 'anna@müller.example'],
    ['anna@XN--MLLER-KVA.example', 'anna@müller.example'],
    // The same letters, composed otherwise.
    ['anna@mu\u0308ller.example', 'anna@müller.example'],
    ['a@b@müller.example', 'a@b@müller.example'],
    ['no address', 'no address'],
    ['anna@', 'anna@'],
  ])('%s is kept as %s', (given, kept) => {
    expect(canonicalAddress(given)).toBe(kept);
    expect(canonicalAddress(kept)).toBe(kept);
  });

  test('travels in Punycode', () => {
    expect(asciiAddress('anna@müller.example')).toBe('anna@xn--mller-kva.example');
    expect(asciiAddress('anna@example.com')).toBe('anna@example.com');
  });

  const isValid = addFormatsTo(new Ajv2020()).compile({ type: 'string', format: 'email' });
  test.each([
    ['anna@müller.example', true],
    ['anna@xn--mller-kva.example', true],
    ['änna@example.com', false],
    ['anna@mül ler.example', false],
    ['anna@', false],
  ])('%s is one that requests may hold: %s', (address, valid) => {
    expect(isValid(address)).toBe(valid);
  });
});
