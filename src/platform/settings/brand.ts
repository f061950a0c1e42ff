import { defaultBrand, type Brand } from '../brand.js';
import { parseHex, type Hex } from '../colour.js';
import { isLoopbackName } from '../publicAddress.js';
import type { SettingsReader } from './reader.js';
import { Problem } from './values.js';
import { webAddress } from './webAddresses.js';

export const readBrand = ({ read }: SettingsReader): Brand => ({
  name: read('BRAND_NAME', brandName, defaultBrand.name),
  color: read('BRAND_COLOR', hexColour, defaultBrand.color),
  logo: read('BRAND_LOGO', pictureAddress, defaultBrand.logo),
});

/** In characters. */
const maxBrandNameLength = 60;

/** It stands in a mail's sender too, between quotes. */
const brandName = (text: string): string | Problem =>
  Array.from(text).length <= maxBrandNameLength && !/[<>"\\\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
    ? text
    : new Problem(`must be a name of up to ${String(maxBrandNameLength)} characters, without quotes, backslashes, < and >`);

const hexColour = (text: string): Hex | Problem => parseHex(text) ?? new Problem('must be #RRGGBB hex');

/** Browsers and mail programs load it, so it must be an address that they reach. */
const pictureAddress = (text: string): string | Problem => {
  const url = webAddress(text);
  return url?.username === '' && url.password === '' && (url.protocol === 'https:' || isLoopbackName(url.hostname))
    ? url.href
    : new Problem('must be the https address of a picture');
};
