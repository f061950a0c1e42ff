/** Everything of a website stands below `website(id)`. */
export const websiteKeys = {
  all: ['websites'],
  lists: ['websites', 'list'],
  list: (filter: object) => ['websites', 'list', filter],
  website: (websiteId: string) => ['websites', websiteId],
} as const;
