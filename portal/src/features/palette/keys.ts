export const paletteKeys = { search: (q: string) => ['search', q] } as const;
