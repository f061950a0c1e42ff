import i18next from 'i18next';

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** "1.2 MB". */
export const sizeText = (bytes: number): string => {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return new Intl.NumberFormat(i18next.language === 'en' ? 'en-GB' : i18next.language, {
    style: 'unit',
    unit: units[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power === 0 ? 0 : 1,
  }).format(bytes / 1000 ** power);
};

/** What a file is, as people say it: "PDF", "PNG", or the ending of its name. */
export const typeText = (contentType: string, name: string): string => {
  const known = /^(?:image\/(\w+)|application\/(pdf|zip))$/.exec(contentType);
  const ending = /\.(\w{1,8})$/.exec(name)?.[1];
  return (known?.[1] ?? known?.[2] ?? ending ?? contentType).toUpperCase();
};
